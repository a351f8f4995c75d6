"""TODO: what stands in a stub where the learner's answer will stand."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import BaseModel


class TodoUsedError(AttributeError, TypeError):
    """Something was computed from TODO. A check reads this as "not attempted", never as "wrong".

    It is an AttributeError, so that `hasattr` and notebook displays can ask TODO for what it does
    not have, and a TypeError, because that is what arithmetic on a value without numbers raises.
    """


class Todo:
    """The class of `TODO`: it can be shown, stored, passed on and compared by identity; nothing can be made of it."""

    def __repr__(self) -> str:
        return "TODO"

    def __format__(self, spec: str) -> str:
        # A stub notebook runs to its end, so a printed "{total:,}" shows TODO instead of failing.
        return "TODO"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        # copy.deepcopy of an answer that holds TODO keeps the one TODO.
        return "TODO"

    def __getattr__(self, name: str) -> NoReturn:
        raise TodoUsedError(f"TODO has no .{name} yet: put your answer in its place and run the cell again")

    def _refuse(self, *others: object) -> NoReturn:
        raise TodoUsedError("TODO has no value yet: put your answer in its place and run the cell again")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = __rmatmul__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refuse
    __divmod__ = __rdivmod__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refuse
    __pow__ = __rpow__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __pos__ = __abs__ = __invert__ = _refuse
    __int__ = __float__ = __complex__ = __index__ = __round__ = __trunc__ = __floor__ = __ceil__ = _refuse
    __len__ = __iter__ = __next__ = __reversed__ = __contains__ = __await__ = __bytes__ = __fspath__ = _refuse
    __getitem__ = __setitem__ = __delitem__ = __call__ = __enter__ = __exit__ = __instancecheck__ = _refuse


TODO = Todo()


def holds_todo(value: Any) -> bool:
    """True if `value` is TODO, or TODO stands somewhere inside its containers, fields or attributes.

    Iterators and generators are not looked into: reading them would use them up.
    """
    seen: set[int] = set()
    waiting: list[Any] = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Todo):
            return True
        if id(current) in seen:
            continue
        seen.add(id(current))
        waiting.extend(_parts(current))
    return False


def _parts(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if isinstance(value, BaseModel):
        return [*vars(value).values(), *(value.model_extra or {}).values()]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    return []
