import pytest
from pydantic import ValidationError

from armgate.model.references import PublishedFigure, Reference, Spread


def test_an_error_bar_is_named_for_what_it_is() -> None:
    assert Spread(kind="standard_deviation", half_width=0.4).words == "± 0.4, standard deviation: no interval"
    interval = Spread(kind="confidence_interval", low=1.0, high=2.0, level=0.95)
    assert interval.words == "1 to 2, 95% confidence interval"
    assert Spread(kind="not_said", half_width=1.0).words == "± 1, of a kind not said"


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "standard_deviation", "half_width": 1.0, "level": 0.95},
        {"kind": "confidence_interval", "low": 1.0, "high": 2.0},
        {"kind": "range", "low": 1.0},
        {"kind": "range", "low": 1.0, "high": 2.0, "half_width": 0.5},
    ],
)
def test_an_error_bar_that_claims_more_than_it_is_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Spread.model_validate(fields)


def test_every_line_of_a_reference_is_labelled_and_says_what_is_not_known() -> None:
    figures = (PublishedFigure(name="decode", value=21.8, unit="tok/s"),)
    (line,) = Reference(who="someone", source="a post", differs=("another stack",), figures=figures).words
    assert line.startswith("not comparable: someone: decode 21.8 tok/s (n not said; formula not said)")
    assert "another stack" in line


def test_a_reference_without_a_difference_is_refused() -> None:
    figures = (PublishedFigure(name="decode", value=21.8, unit="tok/s"),)
    with pytest.raises(ValidationError):
        Reference(who="someone", source="a post", differs=(), figures=figures)
