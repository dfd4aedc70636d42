"""Results of other people, listed in a campaign: shown with what sets them apart, never ranked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from armgate.model.base import Frozen

Text = Annotated[str, Field(min_length=1, max_length=400)]


class Spread(Frozen):
    """An error bar, named for what it is. Only a confidence interval is one, and only it has a level."""

    kind: Literal["standard_deviation", "standard_error", "confidence_interval", "range", "not_said"]
    half_width: float | None = None
    low: float | None = None
    high: float | None = None
    level: Annotated[float, Field(gt=0, lt=1)] | None = None

    @model_validator(mode="after")
    def _is_what_it_says(self) -> Spread:
        if (self.half_width is None) == (self.low is None or self.high is None):
            raise ValueError("either half_width, or low and high")
        if (self.kind == "confidence_interval") != (self.level is not None):
            raise ValueError("a confidence interval has a level, and nothing else has one")
        return self

    @property
    def words(self) -> str:
        width = f"± {self.half_width:g}" if self.half_width is not None else f"{self.low:g} to {self.high:g}"
        name = self.kind.replace("_", " ")
        if self.level is not None:
            return f"{width}, {self.level:.0%} {name}"
        return f"{width}, {name}: no interval" if self.kind != "not_said" else f"{width}, of a kind not said"


class PublishedFigure(Frozen):
    """One figure under the name that its source gives it; `None` where the source does not say."""

    name: Text
    value: float
    unit: Text
    formula: Text | None = None
    n: Annotated[int, Field(ge=1)] | None = None
    spread: Spread | None = None

    @property
    def words(self) -> str:
        told = [f"n={self.n}" if self.n is not None else "n not said"]
        told.append(self.formula or "formula not said")
        told += [self.spread.words] if self.spread is not None else []
        return f"{self.name} {self.value:g} {self.unit} ({'; '.join(told)})"


class Reference(Frozen):
    """Somebody's published result. `differs` says what sets it apart from this campaign's arms."""

    who: Text
    source: Text
    differs: tuple[Text, ...] = Field(min_length=1)
    figures: tuple[PublishedFigure, ...] = Field(min_length=1)
    label: Literal["not comparable"] = "not comparable"

    @property
    def words(self) -> tuple[str, ...]:
        """One line for each figure, each with the label and the differences."""
        apart = "; ".join(self.differs)
        return tuple(
            f"{self.label}: {self.who}: {figure.words}; differs in {apart}; {self.source}"
            for figure in self.figures
        )
