"""Settings that are wrong are one line that names them."""

import os
from pathlib import Path

import pytest

from core.errors import InvalidSettings
from core.settings import read_settings

_WRONG = [
    ({"API__KEYS": "sekret1"}, "HOPWEAVE_API__KEYS: it takes a JSON list"),
    ({"API__KEYS": '{"a": 1}'}, "HOPWEAVE_API__KEYS: it takes a JSON list"),
    ({"API__KEYS": ""}, "HOPWEAVE_API__KEYS: it takes a JSON list"),
    ({"API__KEYS": "[" * 100_000}, "HOPWEAVE_API__KEYS: it takes a JSON list"),
    ({"API__KEYS": "[1]"}, "HOPWEAVE_API__KEYS: "),
    ({"AP__KEYS": '["sekret1"]'}, "HOPWEAVE_AP__KEYS: there is no such setting; did you mean HOPWEAVE_API__KEYS?"),
    ({"API_KEYS": '["sekret1"]'}, "HOPWEAVE_API_KEYS: there is no such setting; did you mean HOPWEAVE_API__KEYS?"),
    ({"API__KEYZ": "1"}, "did you mean HOPWEAVE_API__KEYS?"),
    ({"API__PORT": "8001"}, "HOPWEAVE_API__PORT: there is no such setting; it is an option: hopweave serve --port"),
    ({"LLM__ROLES__PLAN__MODL": "1"}, "did you mean HOPWEAVE_LLM__ROLES__PLAN__MODEL?"),
    ({"QQQQQQ": "1"}, "docs/settings.md lists"),
    ({"API": "3"}, "HOPWEAVE_API: it is a group of settings; set HOPWEAVE_API__KEYS"),
    ({"LLM__ROLES": "x"}, "HOPWEAVE_LLM__ROLES: it takes a JSON object"),
    ({"DATA_DIR__X": "1"}, "HOPWEAVE_DATA_DIR__X: there is no such setting"),
    ({"DATA_DIR": "~nobody-of-this-name/x"}, "HOPWEAVE_DATA_DIR: the home folder in"),
    ({"STORE__RECORD": "sekret1"}, "HOPWEAVE_STORE__RECORD: "),
    ({"BUDGET__CALLS": "sekret1"}, "HOPWEAVE_BUDGET__CALLS: "),
    ({"LLM__TIMEOUT": "nan"}, "HOPWEAVE_LLM__TIMEOUT: "),
    ({"API__CORS_ORIGINS": '["https://a.example/path"]'}, "HOPWEAVE_API__CORS_ORIGINS: "),
    ({"API__KEYS_FILE": "/nowhere"}, "HOPWEAVE_API__KEYS_FILE names a file that cannot be read"),
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("values", "message"), _WRONG)
def test_wrong_settings(values: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in values.items():
        monkeypatch.setenv(f"HOPWEAVE_{name}", value)
    with pytest.raises(InvalidSettings) as caught:
        read_settings()
    assert message in str(caught.value)
    assert "sekret1" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"api = 3", "hopweave.toml: `api` is a group of settings: write them below `[api]`"),
        (b"[api]\nkeyz = 3", "hopweave.toml: there is no setting `api.keyz`; did you mean `api.keys`?"),
        (b"[apy]\nkeys = []", "hopweave.toml: there is no setting `apy`; did you mean `api`?"),
        (b"[17]\na = 1", "hopweave.toml: there is no setting `17`; docs/settings.md lists"),
        (b"[llm.roles.plan]\nmodl = 'x'", "`llm.roles.plan.modl`; did you mean `llm.roles.plan.model`?"),
        (b"[api]\nkeys = [17]", "hopweave.toml: `api.keys[0]`: it takes a text"),
        (b"[api]\nkeys = 'sekret1'", "hopweave.toml: `api.keys`: it takes a list"),
        (b"[worker]\nlease_seconds = 'x'", "hopweave.toml: `worker.lease_seconds`: it takes a number"),
        (b"[worker]\nlease_seconds = -1", "hopweave.toml: `worker.lease_seconds`: it takes more than 0"),
        (b"[log]\nlevel = 'loud'", "hopweave.toml: `log.level`: it takes 'debug', 'info', 'warning' or 'error'"),
        (b"x = ", "hopweave.toml is not valid TOML"),
        (b"x = '\xff'", "hopweave.toml is not UTF-8"),
    ],
)
def test_wrong_files(content: bytes, message: str) -> None:
    Path("hopweave.toml").write_bytes(content)
    with pytest.raises(InvalidSettings) as caught:
        read_settings()
    assert message in str(caught.value)
    assert "Input should" not in str(caught.value)


@pytest.mark.parametrize(
    ("section", "key"),
    [
        *((section, "sekret\r") for section in ("LLM", "LLM__ROLES__ANSWER", "EMBEDDING", "RERANKER", "WEB")),
        *(("LLM", key) for key in ("sekret\nX-Evil: 1", "sekr\u00e9t", "sekret\x7f")),
    ],
)
def test_a_key_that_is_no_header_is_refused_and_not_shown(
    section: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTTP clients refuse it, too, and their message has the key."""
    monkeypatch.setenv(f"HOPWEAVE_{section}__API_KEY", key)
    with pytest.raises(InvalidSettings, match=f"HOPWEAVE_{section}__API_KEY: a key is one line") as refused:
        read_settings()
    assert "sek" not in str(refused.value)


_ADDRESSES = ["LLM__BASE_URL", "LLM__ROLES__PLAN__BASE_URL", "EMBEDDING__BASE_URL", "RERANKER__URL", "WEB__URL"]
_NO_ADDRESSES = [
    *("127.0.0.1:11434/v1", "sekret1.example:8080", "ftp://sekret1.example/v1", "http:/sekret1.example"),
    *("http://", "http:///v1", "http://:8080/v1", "http://sekret1.example:port/v1", "http://sekret1.example:99999/v1"),
    *("http://sekret1 .example/v1", " http://sekret1.example/v1", "http://sekret1.example/v1\n"),
    *("http://[sekret1/v1", "http://user:sekret1@/v1", "http://sekret1..example/v1", "http://sekret1\udcff/v1"),
]


@pytest.mark.parametrize(
    ("name", "address"),
    [
        *((name, "sekret1.example:8080") for name in _ADDRESSES[1:]),
        *((_ADDRESSES[0], address) for address in _NO_ADDRESSES),
    ],
)
def test_an_address_that_is_none_is_refused_and_not_shown(
    name: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"HOPWEAVE_{name}", address)
    with pytest.raises(InvalidSettings) as refused:
        read_settings()
    assert str(refused.value).startswith(
        f"settings are wrong: HOPWEAVE_{name}: it takes an address with http:// or https://, a host and no spaces, "
        "such as http://127.0.0.1:"
    )
    assert "sekret1" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "http://127.0.0.1:11434/v1",
        "HTTPS://API.example/v1/",
        "http://localhost:8080",
        "http://[::1]:8080/v1",
        "http://user:word@model_1.internal/v1?api-version=2",
        "https://m\u00fcller.example/v1",
    ],
)
def test_an_address_is_taken_as_it_is(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LLM__BASE_URL", "EMBEDDING__BASE_URL", "RERANKER__URL"):
        monkeypatch.setenv(f"HOPWEAVE_{name}", address)
    read = read_settings()
    assert {read.llm.base_url, read.embedding.base_url, read.reranker.url} == {address}


@pytest.mark.parametrize(
    "name",
    ["EMBEDDING__QUERY_PREFIX", "EMBEDDING__PASSAGE_PREFIX", "EMBEDDING__MODEL", "LLM__MODEL", "RERANKER__MODEL"],
)
def test_a_text_for_a_model_that_is_no_utf_8_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte of another encoding comes as half of a surrogate pair, which no request can hold."""
    monkeypatch.setenv(f"HOPWEAVE_{name}", "caf\udce9: ")
    with pytest.raises(InvalidSettings, match=f"HOPWEAVE_{name}: it takes a text in UTF-8"):
        read_settings()


def test_settings_are_read_from_the_working_directory_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No `.env` is read, no file of a folder above or below, and nothing in a value is expanded."""
    here = tmp_path / "here"
    (here / "below").mkdir(parents=True)
    for folder in (tmp_path, here / "below"):
        (folder / "hopweave.toml").write_text('[llm]\nbase_url = "http://stranger.example"\n')
    (here / ".env").write_text("HOPWEAVE_LLM__BASE_URL=http://stranger.example\n")
    (here / "hopweave.toml").write_text('[llm]\nmodel = "${HOME} $(id) %(here)s"\n')
    monkeypatch.chdir(here)
    settings = read_settings()
    assert (settings.llm.base_url, settings.llm.model) == ("", "${HOME} $(id) %(here)s")


def test_a_variable_wins_over_the_file_also_in_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("hopweave.toml").write_text("[worker]\nlease_seconds = 5\n")
    monkeypatch.setenv("HOPWEAVE_WORKER__LEASE_SECONDS", "never")
    with pytest.raises(InvalidSettings, match=r"wrong: HOPWEAVE_WORKER__LEASE_SECONDS: it takes a number$"):
        read_settings()


@pytest.mark.parametrize("content", ["# of CI\nfirst\n\n  second \n", '["first", "second"]'])
def test_a_file_of_keys_has_one_a_line_or_a_json_list(content: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("keys").write_text(content)
    monkeypatch.setenv("HOPWEAVE_API__KEYS_FILE", "keys")
    assert [key.get_secret_value() for key in read_settings().api.keys] == ["first", "second"]
    monkeypatch.delenv("HOPWEAVE_API__KEYS")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\0b"])
def test_a_secret_file_that_is_no_text(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("secret").write_bytes(content)
    monkeypatch.setenv("HOPWEAVE_LLM__API_KEY_FILE", "secret")
    with pytest.raises(InvalidSettings, match="HOPWEAVE_LLM__API_KEY_FILE names a file"):
        read_settings()


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert read_settings().data_dir == tmp_path / "share" / "hopweave"
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", "")
    assert read_settings().data_dir == tmp_path / "share" / "hopweave"
    Path(".hopweave").mkdir()
    assert read_settings().data_dir == Path(".hopweave")
    for name in ("DATA_DIR", "FILES__URL", "EMBEDDING__MODEL", "PROMPTS_DIR"):
        monkeypatch.setenv(f"HOPWEAVE_{name}", "~/a")
    read = read_settings()
    assert read.data_dir == read.prompts_dir == tmp_path / "a"
    assert read.files.url == read.embedding.model == str(tmp_path / "a")
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", str(tmp_path / "file" / "x"))
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidSettings, match=r"HOPWEAVE_DATA_DIR: .* is a file; name a folder"):
        read_settings()


def test_variables_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOPWEAVE_API_KEY", "HOPWEAVE_TEST_X", "HOPWEAVERS", "XHOPWEAVE_Y"):
        monkeypatch.setenv(name, "x")
    assert read_settings()
    assert os.environ["HOPWEAVE_API_KEY"] == "x"
