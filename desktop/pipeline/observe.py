"""Middleware that watches every call, refused ones included, and cannot change what comes of it (R-MW-7)."""

from __future__ import annotations

import logging

from desktop.domain.runs.middleware import CallNext, FunctionContext, Middleware

_log = logging.getLogger(__name__)


class Observer:
    """Stands around the gates: runs them exactly once whatever its layer does, and puts back their result."""

    def __init__(self, layer: Middleware[FunctionContext]) -> None:
        self._layer = layer
        self.name = str(getattr(layer, "name", type(layer).__name__))

    async def process(self, context: FunctionContext, call_next: CallNext) -> None:
        """Let the layer watch. Its own failure is logged; a failure from inside passes through (R-INV-4)."""
        passed = False
        result = None
        inner: BaseException | None = None

        async def once() -> None:
            nonlocal passed, result, inner
            if passed:
                return
            passed = True
            try:
                await call_next()
            except BaseException as error:
                inner = error
                raise
            result = context.result

        try:
            await self._layer.process(context, once)
        except Exception as error:  # a listener: it may not fail a call
            if error is not inner:
                _log.exception("an observing middleware failed: %s", self.name)
        if inner is not None:
            raise inner
        await once()
        context.result = result
