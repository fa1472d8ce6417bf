"""JavaScript source of stringify, parse and reviveFns, for isolates that can import nothing (S2, R-COD-14).

The source defines three functions and touches nothing else; it keeps its own references to the built-ins, so that code
which later replaces ``JSON.stringify`` or ``Array.prototype.push`` changes neither. Values become what ``plain`` makes
of theirs in Python: cycles, promises, maps, sets, errors, depth and functions included.

``stringify(value, opts)``: JSON text. ``opts``: ``functions`` (false; true writes ``{"$fn": source}``), ``maxDepth``
(100), ``indent``. ``undefined`` is left out of objects and null elsewhere.
``parse(text, opts)``: the value; ``opts.functions`` as for reviveFns, and without it ``$fn`` stays data.
``reviveFns(value, functions)``: puts functions where ``{"$fn": …}`` stands, in place. ``functions``: an object of name
to function, of which own members count; or ``true``, to compile source text within the isolate. True is for text that
the isolate wrote itself: what a tool returned may hold ``$fn`` from a stranger.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from desktop.domain.errors import ConfigurationError

NAMES = ("stringify", "parse", "reviveFns")

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,63}")
_RESERVED = frozenset(
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends "
    "false finally for function if implements import in instanceof interface let new null package private protected "
    "public return static super switch this throw true try typeof var void while with yield "
    "undefined NaN Infinity".split()
)

_SOURCE = r"""
var [{stringify}, {parse}, {reviveFns}] = (function () {
  "use strict";
  var toJson = JSON.stringify, fromJson = JSON.parse, keysOf = Object.keys, isList = Array.isArray, compile = eval;
  var define = Object.defineProperty, create = Object.create, textOf = String, finite = isFinite, least = Math.min;
  var call = Function.prototype.call, bind = Function.prototype.bind;
  var own = bind.call(call, Object.prototype.hasOwnProperty), sourceOf = bind.call(call, Function.prototype.toString);
  var eachOfMap = bind.call(call, Map.prototype.forEach), eachOfSet = bind.call(call, Set.prototype.forEach);
  var iso = bind.call(call, Date.prototype.toISOString);
  var MapType = Map, SetType = Set, DateType = Date, ErrorType = Error, PromiseType = Promise;

  function put(target, key, value) {
    define(target, key, { value: value, writable: true, enumerable: true, configurable: true });
  }

  function named(value) {
    return typeof value.name === "string" ? value.name : "";
  }

  function leaf(value, opts) {
    switch (typeof value) {
      case "undefined": return undefined;
      case "number": return finite(value) ? value : null;
      case "bigint": return textOf(value);
      case "symbol": return "[symbol]";
      case "function": return opts.functions ? { $fn: sourceOf(value) } : "[Function: " + named(value) + "]";
      default: return value;
    }
  }

  function entries(value, open, opts) {
    var out = create(null), at = 0;
    if (value instanceof MapType) {
      eachOfMap(value, function (item, key) {
        var name = typeof key === "object" && key !== null ? "[object]" : textOf(key), unique = name, count = 1;
        while (own(out, unique)) { count += 1; unique = name + "#" + count; }
        put(out, unique, plain(item, open, opts));
      });
      return out;
    }
    for (var keys = keysOf(value); at < keys.length; at += 1) {
      var item = plain(value[keys[at]], open, opts);
      if (item !== undefined) put(out, keys[at], item);
    }
    return out;
  }

  function items(value, open, opts) {
    var out = [], at;
    function add(item) {
      var found = plain(item, open, opts);
      put(out, out.length, found === undefined ? null : found);
    }
    if (value instanceof SetType) eachOfSet(value, add);
    else for (at = 0; at < value.length; at += 1) add(value[at]);
    return out;
  }

  function special(value) {
    if (value instanceof PromiseType) return "[Promise]";
    if (value instanceof DateType) return finite(+value) ? iso(value) : null;
    if (value instanceof ErrorType) return { name: textOf(value.name), message: textOf(value.message) };
    return undefined;
  }

  function container(value, open, opts) {
    var list = isList(value) || value instanceof SetType, at;
    for (at = 0; at < open.length; at += 1) if (open[at] === value) return "[Circular]";
    if (open.length >= opts.maxDepth) return list ? "[Array]" : "[Object]";
    put(open, open.length, value);
    try {
      return list ? items(value, open, opts) : entries(value, open, opts);
    } finally {
      open.length -= 1;
    }
  }

  function plain(value, open, opts) {
    if (typeof value !== "object" || value === null) return leaf(value, opts);
    var found = special(value);
    return found === undefined ? container(value, open, opts) : found;
  }

  function revived(source, functions) {
    if (functions === true) return compile("(" + source + ")");
    return own(functions, source) ? functions[source] : undefined;
  }

  function revive(value, functions, depth) {
    if (typeof value !== "object" || value === null || depth > 100) return value;
    var keys = keysOf(value), at, found;
    if (keys.length === 1 && keys[0] === "$fn" && typeof value.$fn === "string" && !isList(value)) {
      found = revived(value.$fn, functions);
      return typeof found === "function" ? found : value;
    }
    for (at = 0; at < keys.length; at += 1) {
      put(value, keys[at], revive(value[keys[at]], functions, depth + 1));
    }
    return value;
  }

  function stringify(value, opts) {
    opts = opts || {};
    var depth = opts.maxDepth === undefined ? 100 : least(+opts.maxDepth || 0, 500);
    var found = plain(value, [], { functions: opts.functions === true, maxDepth: depth });
    return toJson(found === undefined ? null : found, null, opts.indent);
  }

  function reviveFns(value, functions) {
    return functions === undefined || functions === null ? value : revive(value, functions, 0);
  }

  function parse(text, opts) {
    return reviveFns(fromJson(text), opts ? opts.functions : undefined);
  }

  return [stringify, parse, reviveFns];
})();
"""


def transferable_serializer_source(names: Mapping[str, str] | None = None) -> str:
    """The source, as ASCII; ``names`` gives other identifiers for ``stringify``, ``parse`` or ``reviveFns``.

    Raises ConfigurationError for what is none of them, no identifier, or given twice.
    """
    chosen = {name: name for name in NAMES} | dict(names or {})
    wrong = [name for name in chosen if name not in NAMES]
    bad = [text for text in chosen.values() if not _IDENTIFIER.fullmatch(text) or text in _RESERVED]
    if wrong or bad or len(set(chosen.values())) < len(NAMES):
        listed = ", ".join(map(repr, wrong + bad)) or "one name twice"
        raise ConfigurationError(f"The serialiser cannot be named so: {listed}.")
    source = _SOURCE
    for name, text in chosen.items():
        source = source.replace("{" + name + "}", text)
    return source.lstrip()
