"""The broker's settings, before anything is connected."""

from pathlib import Path

import pytest

from app.broker.broker import check_broker, make_celery
from core.errors import InvalidSettings
from core.settings import BrokerSettings, Settings


def settings(folder: Path, url: str) -> Settings:
    """As they are on servers, as far as the broker is concerned."""
    return Settings(data_dir=folder).model_copy(update={"broker": BrokerSettings(url=url)})


_NO_BROKERS = ("nonsense", "foo://:do-not-show@host/0", "http://:do-not-show@127.0.0.1:6379", "filesystem://elsewhere")
_WRONG_PARTS = ("redis://:do-not-show@host:x/0", "redis://:do-not-show@host:6379/name")
_OF_REDIS = ("redis://127.0.0.1", "redis://:secret@127.0.0.1:6379/3", "rediss://127.0.0.1:6379/0")
_OTHERS = ("sentinel://127.0.0.1:26379/0", "amqp://user:secret@127.0.0.1:5672//", "amqps://127.0.0.1")


@pytest.mark.parametrize("url", [*_NO_BROKERS, *_WRONG_PARTS])
def test_what_cannot_be_a_broker_is_refused_without_showing_it(tmp_path: Path, url: str) -> None:
    for use in (make_celery, check_broker):
        with pytest.raises(InvalidSettings, match="HOPWEAVE_BROKER__URL cannot be understood") as refusal:
            use(settings(tmp_path, url))
        assert "do-not-show" not in str(refusal.value)


@pytest.mark.parametrize("url", [*_OF_REDIS, *_OTHERS])
def test_what_a_worker_is_made_for(tmp_path: Path, url: str) -> None:
    celery = make_celery(settings(tmp_path, url))
    assert (celery.conf.task_acks_late, celery.conf.task_reject_on_worker_lost) == (True, True)
    assert celery.conf.accept_content == ["json"]
    assert celery.conf.worker_prefetch_multiplier == 1
    assert celery.conf.broker_connection_max_retries is None, "it tries for ever"
    assert not celery.conf.worker_enable_remote_control
    assert celery.conf.task_ignore_result
    assert celery.conf.broker_heartbeat == 0, "nobody would send one during a task"
    if url.startswith("amqp"):
        assert celery.conf.broker_transport_options == {}
    else:
        assert celery.conf.broker_transport_options["visibility_timeout"] == 600
        assert celery.conf.broker_transport_options["unacked_restore_throttle"] == 1


def test_the_folder_answers(tmp_path: Path) -> None:
    assert check_broker(settings(tmp_path, "filesystem://")) == f"files in {tmp_path / 'broker'}"
