"""The regular expressions of the product, and the texts that make a bad one slow.

`find_patterns` lists every pattern that the packages compile, with how it is used. `attack` builds texts from the parts
of a pattern, repeated many times, and returns one on which its time grows faster than the text.
"""

import ast
import importlib
import math
import re
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice, product
from pathlib import Path
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

__all__ = ["Slow", "Used", "attack", "find_patterns"]

ROOT = Path(__file__).parents[1]
SCANS = frozenset({"search", "sub", "subn", "findall", "finditer", "split"})
ANCHORED = frozenset({"match", "fullmatch"})
SCREEN, SMALL, LARGE = 3_000, 8_000, 16_000
NEGLIGIBLE = 0.06
"""Seconds for `LARGE` characters up to which no text is slow, whatever its growth."""
SUSPECT = NEGLIGIBLE * (SCREEN / LARGE) ** 2
"""Seconds for `SCREEN` characters from which a text is tried at larger sizes: with fewer, a time that grows with the
square is negligible for `LARGE`.
"""
SHORT, AT_ONCE = (16, 20, 24, 28, 300), 0.005
"""No text of so few characters takes so many seconds, unless the time grows with a cube or worse."""
LONG = 0.3
"""Seconds after which a text is not tried again: no chance makes so many of so short a run."""
MOST_TEXTS = 400
FEW = 100
REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)


@dataclass(frozen=True, kw_only=True)
class Used:
    """A pattern with the place that it is defined at, and the methods that it is used with."""

    place: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Slow:
    """A text on which a pattern is slow: `start`, then `part` again and again, then `end`."""

    method: str
    start: str
    part: str
    end: str
    seconds: tuple[float, ...]


def find_patterns() -> tuple[list[Used], list[str]]:
    """Returns the patterns, and the places of calls of `re` whose pattern is known at run time only."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    files = [
        file
        for package in settings["tool"]["importlinter"]["root_packages"]
        if package != "testing"
        for file in sorted((ROOT / package).rglob("*.py"))
    ]
    trees = {file: ast.parse(file.read_text("utf-8")) for file in files}
    used: dict[str, set[str]] = {}
    for file, tree in trees.items():
        imported = _imports(tree)
        for owner, method in _method_calls(tree):
            used.setdefault(imported.get(owner, f"{_name_of(file)}.{owner}"), set()).add(method)
    found, unknown, known = dict[str, Used](), list[str](), set[re.Pattern[Any]]()
    for file, tree in trees.items():
        calls = [node for node in ast.walk(tree) if _is_re_call(node)]
        if not calls:
            continue
        name = _name_of(file)
        module = importlib.import_module(name)
        for variable, pattern in _globals(module):
            methods = used.get(f"{name}.{variable}", set()) & (SCANS | ANCHORED) or {"search"}
            place = f"{name}.{variable}"
            found[place] = Used(place=place, pattern=pattern, methods=frozenset(methods))
            known.add(pattern)
        for call in calls:
            made = _evaluate(call, module)
            if made is None:
                unknown.append(f"{name}: {ast.unparse(call)}")
            elif made not in known:
                known.add(made)
                method = call.func.attr  # type: ignore[attr-defined]
                methods = {method} & (SCANS | ANCHORED) or {"search"}
                place = f"{name}: {ast.unparse(call)}"
                found[place] = Used(place=place, pattern=made, methods=frozenset(methods))
    return list(found.values()), unknown


def _name_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def _imports(tree: ast.AST) -> dict[str, str]:
    """Returns the full names of what a module imports by name."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _method_calls(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yields each `NAME.method`, called or passed on."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr


def _is_re_call(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in SCANS | ANCHORED | {"compile"}
    )


def _globals(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any]]]:
    for name, value in vars(module).items():
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else [value]
        for number, one in enumerate(inner):
            if isinstance(one, re.Pattern):
                yield name if one is value else f"{name}[{number}]", one


def _evaluate(call: Any, module: ModuleType) -> re.Pattern[Any] | None:
    """Returns the pattern of a call of `re`, if it consists of constants and of names of the module."""
    try:
        made = eval(compile(ast.Expression(call.args[0]), "pattern", "eval"), vars(module))  # noqa: S307 - our own code
        flags = next((word.value for word in call.keywords if word.arg == "flags"), None)
        if flags is None and call.func.attr == "compile" and len(call.args) > 1:
            flags = call.args[1]
        value = eval(compile(ast.Expression(flags), "flags", "eval"), vars(module)) if flags else 0  # noqa: S307
    except NameError:
        return None
    return re.compile(made, value)


def attack(one: Used) -> Slow | None:
    """Returns a text on which the pattern takes more than three times as long when it is twice as long, or None."""
    if not _repeats_much(one.pattern):
        return None
    # All scans run as one: `finditer`, which goes through the text as each of them does.
    methods = {method if method in ANCHORED else "finditer" for method in one.methods}
    return next((slow for method in sorted(methods) if (slow := _attack(one.pattern, method))), None)


@cache
def _attack(pattern: re.Pattern[Any], method: str) -> Slow | None:
    run = _runner(pattern, method)
    for start, part, end in _texts(pattern):
        timer = partial(_time, run, pattern, start, part, end)
        # A busy machine, or a collection of garbage, makes any text slow once or twice; a bad pattern always is.
        if (seconds := _find_slow(timer)) and (seconds := _find_slow(timer, tries=6)):
            return Slow(method=method, start=start, part=part, end=end, seconds=seconds)
    return None


def _repeats_much(pattern: re.Pattern[Any]) -> bool:
    """Whether the repeats of a pattern can go on for more than `FEW` characters from one place. Without such a repeat,
    its time is bounded at each place of a text, and so grows as the text does.
    """
    return math.prod(max(most, 1) for most in _most_repeats(_parse(pattern))) > FEW


def _most_repeats(tree: Any) -> Iterator[int]:
    for item in tree:
        if item[0] in REPEATS:
            yield int(item[1][1])
        for inner in _inner(item):
            yield from _most_repeats(inner)


def _parse(pattern: re.Pattern[Any]) -> Any:
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    return _parser.parse(source, pattern.flags & ~re.UNICODE)


def _find_slow(timer: Callable[[int], float], tries: int = 2) -> tuple[float, ...] | None:
    """Returns the shortest times of `tries` each on which a text is found slow; None if it is not."""

    def shortest(length: int, enough: float = 0) -> float:
        times = [timer(length)]
        while times[-1] >= enough and len(times) < tries and sum(times) < LONG:
            times.append(timer(length))
        return min(times)

    if any(timer(length) > AT_ONCE and shortest(length) > AT_ONCE for length in SHORT):
        return (AT_ONCE,)
    screened = shortest(SCREEN, enough=SUSPECT)
    if screened < SUSPECT or (screened < LONG and timer(LARGE) <= NEGLIGIBLE):
        return None
    small = shortest(SMALL)
    if small > 100 * NEGLIGIBLE:
        return (small,)
    large = shortest(LARGE)
    if large <= NEGLIGIBLE or large <= 3 * small:
        return None
    # Chance makes one short time long; that the next is as much longer again tells the growth of a pattern from it.
    largest = LONG if large > LONG else shortest(2 * LARGE)
    return (small, large, largest) if largest >= LONG or largest > 3 * large else None


def _runner(pattern: re.Pattern[Any], method: str) -> Callable[[Any], object]:
    if method in ANCHORED:
        run: Callable[[Any], object] = getattr(pattern, method)
        return run
    return lambda text: sum(1 for _ in pattern.finditer(text))


def _time(
    run: Callable[[Any], object], pattern: re.Pattern[Any], start: str, part: str, end: str, length: int
) -> float:
    text: Any = start + part * (length // len(part)) + end
    if isinstance(pattern.pattern, bytes):
        text = text.encode("latin-1", "replace")
    began = time.thread_time()
    run(text)
    return time.thread_time() - began


def _texts(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    tree = _parse(pattern)
    letters = list(dict.fromkeys(_letters(tree)))[:14]
    sequences = list(_sequences(tree))
    samples = dict.fromkeys(chain.from_iterable(_samples(part) for _, items in sequences for part in _parts(items)))
    starts = dict.fromkeys(
        before + _sample(items[:i]) for before, items in sequences for i, (op, _) in enumerate(items) if op in REPEATS
    )
    pairs = ["".join(pair) for pair in product(letters, repeat=2) if pair[0] != pair[1]]
    ends = ["", "\x01!"]
    single = [part for part in dict.fromkeys([*letters, *samples]) if part][:40]
    primed = product([one for one in starts if one][:6], single[:20], ends)
    yield from islice(dict.fromkeys(chain(product([""], single, ends), primed, product([""], pairs, ends))), MOST_TEXTS)


def _sequences(tree: Any, before: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Yields each concatenation of the pattern, the whole first, with a text that what stands before it matches."""
    items = list(tree)
    yield before, items
    for i, item in enumerate(items):
        for inner in _inner(item):
            yield from _sequences(inner, before + _sample(items[:i]))


def _inner(item: Any) -> list[Any]:
    op, value = item
    if op in REPEATS:
        return [value[2]]
    if op is ops.SUBPATTERN:
        return [value[-1]]
    if op is ops.ATOMIC_GROUP:
        return [value]
    if op is ops.BRANCH:
        return list(value[1])
    if op in (ops.ASSERT, ops.ASSERT_NOT):
        return [value[1]]
    return []


def _parts(items: list[Any]) -> Iterator[list[Any]]:
    """Yields the beginnings and the ends of a concatenation, and each item."""
    for i in range(len(items)):
        yield items[: i + 1]
        yield items[i:]
        yield items[i : i + 1]


def _samples(items: list[Any]) -> Iterator[str]:
    yield _sample(items)
    yield _sample(items, optional=True)


def _sample(items: Any, *, optional: bool = False) -> str:
    """Returns a text that the items match, but for what they look for before and behind it."""
    return "".join(_sample_one(item, optional=optional) for item in items)


def _sample_one(item: Any, *, optional: bool) -> str:
    op, value = item
    if op is ops.LITERAL:
        return chr(value)
    if op in (ops.ANY, ops.NOT_LITERAL, ops.IN):
        return next(_letters([item]), "")
    if op in REPEATS:
        times = max(value[0], 1) if optional else value[0]
        return _sample(value[2], optional=optional) * times
    inner = [] if op in (ops.ASSERT_NOT, ops.ASSERT) else _inner(item)
    return _sample(inner[0], optional=optional) if inner else ""


COMMON = "a1 \n\tA-.\"'<[(_é中"


def _letters(tree: Any) -> Iterator[str]:
    """Yields characters of each kind that the pattern tells from others."""
    for item in tree:
        op, value = item
        if op is ops.LITERAL:
            yield chr(value)
        elif op is ops.ANY:
            yield "x"
        elif op in (ops.NOT_LITERAL, ops.IN):
            yield from _members(item)
        else:
            for inner in _inner(item):
                yield from _letters(inner)


def _members(item: Any) -> Iterator[str]:
    op, value = item
    if op is ops.IN and value[0][0] is not ops.NEGATE:
        for kind, one in value:
            if kind is ops.LITERAL:
                yield chr(one)
            elif kind is ops.RANGE:
                yield chr(one[0])
            elif kind is ops.CATEGORY:
                yield from _CATEGORIES.get(one, "x")
        return
    out = {chr(value)} if op is ops.NOT_LITERAL else set(_members((ops.IN, value[1:])))
    yield from [one for one in COMMON if one not in out and not _in_category(one, value)][:2]


_CATEGORIES = {
    ops.CATEGORY_SPACE: " \n",
    ops.CATEGORY_NOT_SPACE: "x",
    ops.CATEGORY_DIGIT: "1",
    ops.CATEGORY_NOT_DIGIT: "x",
    ops.CATEGORY_WORD: "aA1_",
    ops.CATEGORY_NOT_WORD: " .",
}


def _in_category(letter: str, members: Any) -> bool:
    """Whether a letter is of a category of a set."""
    if isinstance(members, int):
        return False
    tests = {
        ops.CATEGORY_SPACE: letter.isspace(),
        ops.CATEGORY_NOT_SPACE: not letter.isspace(),
        ops.CATEGORY_DIGIT: letter.isdigit(),
        ops.CATEGORY_NOT_DIGIT: not letter.isdigit(),
        ops.CATEGORY_WORD: letter.isalnum() or letter == "_",
        ops.CATEGORY_NOT_WORD: not (letter.isalnum() or letter == "_"),
    }
    return any(kind is ops.CATEGORY and tests[one] for kind, one in members if kind is not ops.NEGATE)
