"""S3Proxy: a server that speaks S3, over a folder."""

import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import ClassVar

from tests.servers.server import HASTY_JAVA, INSTALLED, Server

JARS = INSTALLED / "s3" / "program"
ACCESS_KEY = "hopweave"
# Weak and known to all: for a server that listens on loopback only and holds nothing but what was made up.
SECRET_KEY = "hopweave-local"  # noqa: S105 - see above
BUCKET = "hopweave"


class S3Server(Server):
    """Has one bucket, made before the first start; requests must be signed."""

    name: ClassVar[str] = "s3"
    usual_port = 9090
    bucket: ClassVar[str] = BUCKET
    access_key: ClassVar[str] = ACCESS_KEY
    secret_key: ClassVar[str] = SECRET_KEY
    region: ClassVar[str] = "us-east-1"

    @property
    def endpoint(self) -> str:
        return self.uri

    @property
    def environment_of_clients(self) -> Mapping[str, str]:
        return environment_of_clients(self.endpoint, self.access_key, self.secret_key, self.region)

    def prepare(self) -> None:
        folder = self.home / "data"
        (folder / self.bucket).mkdir(parents=True, exist_ok=True)
        properties = {
            "s3proxy.endpoint": self.endpoint,
            "s3proxy.authorization": "aws-v2-or-v4",
            "s3proxy.identity": self.access_key,
            "s3proxy.credential": self.secret_key,
            "s3proxy.ignore-unknown-headers": "true",  # checksums that clients send with what they delete
            "jclouds.provider": "filesystem-nio2",
            "jclouds.identity": "unused",
            "jclouds.credential": "unused",
            "jclouds.filesystem.basedir": folder,
        }
        lines = [f"{key}={value}\n" for key, value in properties.items()]
        (self.home / "s3proxy.properties").write_text("".join(lines), "utf-8")

    def command(self) -> Sequence[str]:
        main = ["org.gaul.s3proxy.Main", "--properties", str(self.home / "s3proxy.properties")]
        return ["java", "-Xmx256m", HASTY_JAVA, "-cp", f"{JARS}/*", *main]

    def is_healthy(self) -> bool:
        try:
            with urllib.request.urlopen(self.endpoint, timeout=5):  # noqa: S310 - http
                return False  # it lets in who did not sign: not the server that was started
        except urllib.error.HTTPError as refused:
            return refused.code == 403
        except OSError:
            return False


def environment_of_clients(endpoint: str, access_key: str, secret_key: str, region: str) -> Mapping[str, str]:
    """What S3's own clients read from the environment."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": access_key,
        "AWS_SECRET_ACCESS_KEY": secret_key,
        "AWS_REGION": region,
        "AWS_ALLOW_HTTP": "true",
    }
