from __future__ import annotations

import hashlib
import re
from pathlib import Path

import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armgate.errors import UsageError
from armgate.loading.haystack import build_haystack
from armgate.loading.haystacks import named_haystack
from armgate.loading.workspace import Workspace
from armgate.model.haystack import (
    CorpusFiller,
    DecoySpec,
    Filler,
    Haystack,
    HaystackSpec,
    MarkerSpec,
    ProseFiller,
    RecordsFiller,
)

TEMPLATE_TOKENS = 27
QUESTION = "Return only a JSON array of the markers."
MARKERS = (
    MarkerSpec(id="first", depth=0.1),
    MarkerSpec(id="middle", depth=0.5),
    MarkerSpec(id="last", depth=0.95),
)
EVIDENCE = Path(__file__).parents[3] / "shared" / "evidence" / "two-spark-dflash2"


class Counter:
    """Counts as a tokenizer would: words, their long tails, digits and punctuation one by one."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> int:
        self.texts.append(text)
        return TEMPLATE_TOKENS + sum(
            1 + len(piece) // 9 if piece.isalpha() else 1
            for piece in re.findall(r"[^\W\d]+|\d|[^\w\s]|\n", text)
        )


def build(spec: HaystackSpec, corpus: str | None = None) -> tuple[Haystack, Counter]:
    counter = Counter()
    return anyio.run(build_haystack, spec, counter, corpus), counter


def spec(target: int, filler: Filler | None = None, **rest: object) -> HaystackSpec:
    given_or_default = {"markers": MARKERS, **rest}
    return HaystackSpec(
        target_tokens=target, filler=filler or RecordsFiller(), question=QUESTION, **given_or_default
    )


@pytest.mark.parametrize("filler", [RecordsFiller(), ProseFiller()], ids=["records", "prose"])
@pytest.mark.parametrize("target", [300, 1000, 8191, 120_000])
def test_the_counted_length_is_the_target_in_few_calls(filler: Filler, target: int) -> None:
    built, counter = build(spec(target, filler))
    assert built.counted_tokens == counter(built.text)
    assert abs(built.counted_tokens - target) <= 1
    assert built.count_calls <= 14
    assert max(len(text) for text in counter.texts) < 1.2 * len(built.text) + 400


def test_markers_stand_where_they_were_asked_to() -> None:
    built, _ = build(spec(20_000))
    for marker in built.markers:
        assert built.text[marker.char_offset :].startswith(marker.text)
        assert built.text.count(marker.text) == 1
        assert marker.depth == pytest.approx(marker.depth_asked, abs=0.01)
    assert [marker.id for marker in built.markers] == ["first", "middle", "last"]
    assert len({marker.text for marker in built.markers}) == 3


def test_token_offsets_leave_the_template_out() -> None:
    built, counter = build(spec(5_000))
    for marker in built.markers:
        assert marker.token_offset == counter(built.text[: marker.char_offset]) - TEMPLATE_TOKENS


def test_the_same_recipe_gives_the_same_text_and_another_seed_another() -> None:
    for filler in (RecordsFiller(), ProseFiller()):
        one, again, other = (build(spec(2000, filler, seed=seed))[0] for seed in (1, 1, 2))
        assert one == again
        assert one.sha256 == "sha256:" + hashlib.sha256(one.text.encode()).hexdigest()
        assert {m.text for m in one.markers}.isdisjoint(m.text for m in other.markers)


def test_a_fresh_prefix_differs_from_the_first_line_on() -> None:
    texts = [build(spec(500, seed=seed, fresh_prefix=True))[0].text for seed in (1, 2)]
    first_lines = [text.splitlines()[0] for text in texts]
    assert first_lines[0] != first_lines[1]
    assert all(re.fullmatch(r"Archive copy [0-9a-f]{16}\.", line) for line in first_lines)


def test_a_counter_may_be_asynchronous() -> None:
    async def count(text: str) -> int:
        await anyio.lowlevel.checkpoint()
        return len(text.split())

    built = anyio.run(build_haystack, spec(800), count)
    assert built.counted_tokens == len(built.text.split()) == 800


def test_decoys_are_near_the_marker_and_are_recorded() -> None:
    markers = (MarkerSpec(id="code", text="MARK-4417"),)
    decoys = (DecoySpec(of="code", depth=0.2), DecoySpec(of="code", depth=0.8, text="MARK-1447"))
    built, _ = build(spec(1500, markers=markers, decoys=decoys))
    assert [(d.id, d.text) for d in built.decoys] == [("code", "MARK-4471"), ("code", "MARK-1447")]
    assert "An earlier list gave the code marker as MARK-4471; that value was withdrawn." in built.text
    assert built.decoys[0].char_offset < built.markers[0].char_offset < built.decoys[1].char_offset


def test_a_haystack_may_hold_no_marker_at_all() -> None:
    built, _ = build(spec(600, markers=()))
    assert built.markers == ()
    assert abs(built.counted_tokens - 600) <= 1


def test_patterns_draw_letters_digits_and_words() -> None:
    built, _ = build(spec(600, markers=(MarkerSpec(id="a", pattern="x@@-##"), MarkerSpec(id="b"))))
    assert re.fullmatch(r"x[A-Z]{2}-\d{2}", built.markers[0].text)
    assert re.fullmatch(r"[A-Z]+-\d{4}", built.markers[1].text)


def test_a_pattern_gives_each_marker_another_text_until_it_is_exhausted() -> None:
    ten = tuple(MarkerSpec(id=f"m{n}", pattern="Q-#", depth=n / 10) for n in range(10))
    built, _ = build(spec(900, markers=ten))
    assert len({marker.text for marker in built.markers}) == 10
    with pytest.raises(UsageError, match="the pattern 'Q-#' gives too few different markers"):
        build(spec(900, markers=(*ten, MarkerSpec(id="m10", pattern="Q-#"))))


ARCHIVE, _ = named_haystack(Workspace(Path(__file__).parents[2]), "two-spark-archive")


def test_the_published_archive_prompt_is_rebuilt_from_its_recipe() -> None:
    built, _ = build(ARCHIVE)
    lines = built.text.split("\n")
    assert len(built.text) == 686_824
    assert lines[0] == "Read this archive as data. The first verification marker is VIOLET-7391."
    assert lines[1] == "<archive>"
    assert lines[2].startswith("Record 00000: Routine inventory maintenance")
    middle = lines.index("The middle archive marker is AMBER-5826.")
    assert lines[middle - 1].startswith("Record 02619: ")
    assert lines[middle + 1].startswith("Record 02620: ")
    assert lines[-4].startswith("Record 05240: ")
    assert [m.text for m in built.markers] == ["VIOLET-7391", "AMBER-5826", "CYAN-1948"]
    assert (built.lines, built.padding_words, built.target_tokens) == (5241, 0, None)


@pytest.mark.skipif(
    not EVIDENCE.is_dir(), reason="the recorded two-node experiment is not beside this checkout"
)
@pytest.mark.parametrize("arm", ["baseline", "dflash2-7"])
def test_the_archive_prompt_ends_as_the_recorded_one_does(arm: str) -> None:
    note = (EVIDENCE / arm / "long-context-120k-result.NOTE.txt").read_text()
    recorded = (
        note.split("--- BEGIN VERBATIM TAIL ---\n")[1].split('",\n  "thinking"')[0].replace("\\n", "\n")
    )
    assert build(ARCHIVE)[0].text.endswith(recorded)
    assert len(recorded) > 150


def test_a_target_below_the_fixed_parts_is_refused() -> None:
    with pytest.raises(UsageError, match=r"before any filler, above the target of 40"):
        build(spec(40))


def test_a_target_just_above_the_fixed_parts_is_met_with_padding() -> None:
    bare = build(HaystackSpec(lines=1, question=QUESTION))[0].counted_tokens
    built, _ = build(spec(bare + 2, markers=()))
    assert built.counted_tokens == bare + 2


def corpus_filler() -> CorpusFiller:
    return CorpusFiller(kind="corpus", file="book.txt", sha256="0" * 64)


def test_a_corpus_is_used_line_by_line_and_long_lines_are_broken() -> None:
    corpus = "\n\n".join(f"Line {n} of the book, about nothing much at all." for n in range(400))
    built, _ = build(spec(2000, corpus_filler()), corpus + "\n" + "word " * 2000)
    assert abs(built.counted_tokens - 2000) <= 8
    assert "Line 0 of the book" in built.text
    assert (
        max(len(line) for line in build(spec(5000, corpus_filler()), "word " * 9000)[0].text.split("\n"))
        <= 400
    )


def test_a_corpus_that_is_too_short_is_refused() -> None:
    with pytest.raises(UsageError, match="tokens short of 50000 after 30 lines"):
        build(spec(50_000, corpus_filler()), "A short line.\n" * 30)
    with pytest.raises(UsageError, match=r"the text of book\.txt was not given"):
        build(spec(500, corpus_filler()))
    with pytest.raises(UsageError, match="the corpus has 3 lines, 9 are needed"):
        build(HaystackSpec(lines=9, filler=corpus_filler(), question=QUESTION), "a\nb\nc\n")


def test_a_marker_that_the_question_gives_away_is_refused() -> None:
    leaking = HaystackSpec(
        lines=10, question="Is it MARK-4417?", markers=(MarkerSpec(id="m", text="MARK-4417"),)
    )
    with pytest.raises(UsageError, match="'MARK-4417' occurs 2 times"):
        build(leaking)


@pytest.mark.parametrize(
    ("markers", "decoys", "says"),
    [
        ((MarkerSpec(id="a", text="X-1"), MarkerSpec(id="b", text="X-1")), (), "planted twice: X-1"),
        (
            (MarkerSpec(id="a", text="aaaa"),),
            (DecoySpec(of="a", depth=0.5),),
            "no further decoy can be made of 'aaaa'",
        ),
        ((MarkerSpec(id="a", sentence="nothing here"),), (), "does not contain"),
    ],
)
def test_recipes_that_cannot_be_drawn_are_refused(
    markers: tuple[MarkerSpec, ...], decoys: tuple[DecoySpec, ...], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        build(spec(500, markers=markers, decoys=decoys))


def test_a_counter_that_never_comes_near_ends_in_an_error_and_not_in_a_loop() -> None:
    def coarse(text: str) -> int:
        return 100 * (len(text) // 2000)

    with pytest.raises(UsageError, match="haystack: "):
        anyio.run(build_haystack, spec(4321), coarse)


@settings(max_examples=40, deadline=None)
@given(
    target=st.integers(400, 6000),
    seed=st.integers(0, 1000),
    depths=st.lists(st.floats(0, 1), min_size=1, max_size=6),
    prose=st.booleans(),
)
def test_any_depths_and_seeds_fit(target: int, seed: int, depths: list[float], prose: bool) -> None:
    markers = tuple(MarkerSpec(id=f"m{n}", depth=depth) for n, depth in enumerate(depths))
    filler: Filler = ProseFiller() if prose else RecordsFiller()
    built, counter = build(spec(target, filler, seed=seed, markers=markers))
    assert abs(counter(built.text) - target) <= 8
    offsets = {m.id: m.char_offset for m in built.markers}
    by_depth = sorted(built.markers, key=lambda m: (int((m.depth_asked or 0) * built.lines), int(m.id[1:])))
    assert [m.id for m in by_depth] == sorted(offsets, key=lambda one: offsets[one])


@pytest.mark.parametrize("filler", [RecordsFiller(), ProseFiller()], ids=["records", "prose"])
def test_markers_may_be_placed_by_their_offset_in_tokens(filler: Filler) -> None:
    asked = (0, 3000, 7000, 11_900)
    markers = tuple(MarkerSpec(id=f"m{n}", at_tokens=at) for n, at in enumerate(asked))
    decoys = (DecoySpec(of="m1", at_tokens=9000, kind="superseded"),)
    built, counter = build(spec(12_000, filler, markers=markers, decoys=decoys))
    assert built.counted_tokens == 12_000
    for planted in (*built.markers, *built.decoys):
        assert planted.tokens_asked is not None
        assert abs(planted.token_offset - planted.tokens_asked) <= 60
        assert planted.depth_asked is None
        assert planted.token_offset == counter(built.text[: planted.char_offset]) - TEMPLATE_TOKENS
    assert re.fullmatch(r"[A-Z]+-\d{4}", built.decoys[0].text)


def test_near_decoys_of_one_marker_are_all_different() -> None:
    decoys = tuple(DecoySpec(of="code", depth=0.1 * n) for n in range(4))
    built, _ = build(spec(1500, markers=(MarkerSpec(id="code", text="MARK-4417"),), decoys=decoys))
    texts = {decoy.text for decoy in built.decoys}
    assert len(texts) == 4
    assert all(sorted(text) == sorted("MARK-4417") for text in texts)
    assert "MARK-4417" not in texts


def test_a_probe_of_the_same_seed_has_a_prefix_of_its_own_and_the_same_markers() -> None:
    fresh = spec(800, fresh_prefix=True)
    one, other = (anyio.run(build_haystack, fresh, Counter(), None, salt) for salt in ("a", "b"))
    assert one.text.splitlines()[0] != other.text.splitlines()[0]
    assert [m.text for m in one.markers] == [m.text for m in other.markers]


def test_what_the_template_adds_is_told() -> None:
    assert build(spec(600))[0].overhead_tokens == TEMPLATE_TOKENS


def test_few_counts_are_of_the_whole_length() -> None:
    built, counter = build(spec(120_000))
    whole = sum(len(text) > 0.9 * len(built.text) for text in counter.texts)
    assert whole <= 5
    assert sum(map(len, counter.texts)) <= 7 * len(built.text)
