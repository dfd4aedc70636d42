"""The exception tree is the one that its module draws."""

import inspect

import armgate.errors as errors


def test_the_docstring_draws_the_whole_tree() -> None:
    drawn = errors.__doc__ or ""
    classes = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, Exception)]
    assert classes
    for cls in classes:
        assert cls.__name__ in drawn
        assert issubclass(cls, errors.ArmgateError)
        assert cls.exit_code in (2, 4)
