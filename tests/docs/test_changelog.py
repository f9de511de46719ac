"""CHANGELOG.md is in the form of Keep a Changelog, and the templates for issues are forms that GitHub reads."""

import datetime as dt
import re
import tomllib

import pytest
import yaml

from tests.docs.pages import ROOT

KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_sections_are_dated_and_the_newest_comes_first() -> None:
    unreleased, *released = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)
    assert unreleased == "[Unreleased]"
    found = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", section) for section in released]
    assert all(found)
    dates = [dt.date.fromisoformat(one[2]) for one in found if one]
    assert dates == sorted(dates, reverse=True)
    assert set(re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE)) <= KINDS


def test_the_version_has_its_section_and_each_section_its_link() -> None:
    sections = re.findall(r"^## \[([^\]]+)\]", CHANGELOG, re.MULTILINE)
    links = dict(re.findall(r"^\[([^\]]+)\]: (\S+)$", CHANGELOG, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] in sections
    assert set(links) == set(sections)
    assert all(link.startswith(project["urls"]["Source"]) for link in links.values())


@pytest.mark.parametrize("name", ["bug_report", "feature_request"])
def test_issue_forms(name: str) -> None:
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml").read_text("utf-8"))
    assert set(form) == {"name", "description", "labels", "body"}
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))
    assert all(field["attributes"]["label"] for field in form["body"])
