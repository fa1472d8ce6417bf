(send, limits) => {
  const { parse, stringify } = JSON;
  const Str = String, Err = Error, TypeErr = TypeError, RangeErr = RangeError, Prom = Promise;
  const { apply, construct, defineProperty: place, getOwnPropertyDescriptor: described, getPrototypeOf } = Reflect;
  const create = Object.create, define = Object.defineProperty, freeze = Object.freeze, keys = Object.keys;
  const then = Prom.prototype.then, exec = RegExp.prototype.exec;
  const { slice, repeat, indexOf, charCodeAt } = Str.prototype, { join } = Array.prototype, { get, set } = WeakMap.prototype;
  const world = globalThis, now = Date.now, floor = Math.floor, evaluate = world.eval, asked = new WeakMap();
  const say = (...parts) => send(apply(join, parts, [''])) === true;
  const table = () => create(null);
  const field = (value, enumerable) => ({ __proto__: null, value, writable: true, configurable: true, enumerable });
  const fixed = (value) => ({ __proto__: null, value, writable: false, configurable: false, enumerable: false });

  let shift = 0, height = 0, known = false, asking = false, seen = 0;
  Err.prepareStackTrace = (_, sites) => sites;
  const { getLineNumber: lineAt, isNative } = getPrototypeOf(new Err('').stack[0]);
  const stackOf = described(Err.prototype, 'stack').get;
  Err.prepareStackTrace = (_, sites) => {
    let text = '';
    for (let i = asking ? OWN : 0; i < sites.length; i++) {
      const line = apply(lineAt, sites[i], []) - shift, mine = line >= 1 && line <= height;
      if (mine && !asking) text += '    at line ' + line + '\n';
      if (!asking || apply(isNative, sites[i], [])) continue;
      seen = mine && known ? line : 0;
      return '';
    }
    return text;
  };
  Err.stackTraceLimit = 20;
  define(Err, 'prepareStackTrace', fixed(undefined));
  define(Err, 'stackTraceLimit', fixed(20));
  define(Prom.prototype, 'constructor', fixed(Prom));
  define(Prom, Symbol.species, { configurable: false });

  const OWN = 3;
  const here = () => {
    seen = 0;
    asking = true;
    try {
      new Err('');
    } finally {
      asking = false;
    }
    return seen;
  };
  const lineOf = (e) => {
    try {
      const found = apply(exec, /^    at line (\d+)/, [apply(stackOf, e, [])]);
      return found === null ? apply(get, asked, [e]) || 0 : +found[1];
    } catch (_) {
      return 0;
    }
  };
  const cut = (text, size) => apply(slice, text, [0, size]);
  const safe = (e) => {
    try {
      return cut(Str(e && typeof e === 'object' && 'message' in e ? e.message : e), 2000);
    } catch (_) {
      return 'an error that cannot be shown';
    }
  };
  const nameOf = (e) => {
    try {
      return e && typeof e === 'object' ? cut(Str(e.name || 'Error'), 100) : 'Error';
    } catch (_) {
      return 'Error';
    }
  };
  const json = (value) => apply(stringify, undefined, [value]);
  const fits = (text, what) => {
    if (text.length > limits.message) throw new RangeErr(what + ' is larger than ' + limits.message + ' bytes');
    return text;
  };
  const plain = (value, what) => {
    let text;
    try {
      text = json(value);
    } catch (e) {
      throw new TypeErr(what + ' cannot be sent: ' + safe(e));
    }
    return text === undefined ? 'null' : fits(text, what);
  };
  const mapping = (value, what) => {
    const text = plain(value === undefined || value === null ? {} : value, what);
    if (text[0] !== '{') throw new TypeErr(what + ' are an object');
    return text;
  };
  const named = (v) => {
    if (v === undefined || v === null) return null;
    if (typeof v === 'function') return '[function]';
    if (typeof v === 'symbol') return '[symbol]';
    if (typeof v === 'bigint') return Str(v) + 'n';
    if (typeof v === 'number' && !(v - v === 0)) return Str(v);
    return typeof v === 'object' && isError(v) ? nameOf(v) + ': ' + safe(v) : v;
  };
  const isError = (v) => {
    try {
      return v instanceof Err;
    } catch (_) {
      return false;
    }
  };
  const anyhow = (value) => {
    const above = table();
    let depth = 0;
    const replaced = function (_, v) {
      while (depth > 0 && above[depth - 1] !== this) depth--;
      if (typeof v !== 'object' || v === null) return typeof v === 'bigint' ? named(v) : v;
      for (let i = 0; i < depth; i++) if (above[i] === v) return '[circular]';
      above[depth++] = v;
      return v;
    };
    return apply(stringify, undefined, [value, replaced]);
  };
  const told = (value) => {
    const v = named(value);
    let text;
    try {
      text = json(v);
    } catch (_) {
      try {
        text = anyhow(v);
      } catch (e) {
        text = json('[it cannot be sent: ' + safe(e) + ']');
      }
    }
    return text === undefined ? 'null' : text;
  };

  let state = { over: true }, waiting = table(), next = 1, open = 0;
  const refusal = (message, code, line) => {
    const e = new Err(message);
    apply(set, asked, [e, line]);
    place(e, 'name', field('ToolError', false));
    place(e, 'code', field(code, true));
    return e;
  };
  const ask = (op, fields) => {
    if (state.over) throw new Err('the code has ended');
    const line = here();
    return new Prom((resolve, reject) => {
      const id = next++;
      waiting[id] = { resolve, reject, line };
      open++;
      if (say('{"t":"ask","id":', id, ',"op":"', op, '","line":', line, fields, '}')) return;
      delete waiting[id];
      open--;
      reject(new RangeErr('what it asks for is larger than ' + limits.message + ' bytes'));
    });
  };
  const manager = freeze({
    __proto__: null,
    invoke(ref, args, options) {
      if (typeof ref !== 'string') throw new TypeErr('invoke(name, args): the name is a text');
      const name = plain(ref, 'the name'), given = mapping(args, 'the arguments');
      return ask('invoke', ',"ref":' + name + ',"args":' + given + ',"options":' + mapping(options, 'the options'));
    },
    finish(value) {
      return ask('finish', ',"value":' + plain(value, 'the value'));
    },
    fail(reason) {
      return ask('fail', ',"value":' + plain(safe(reason), 'the reason'));
    },
    next(options) {
      return ask('next', ',"options":' + mapping(options, 'the options'));
    },
  });
  const ctx = freeze({ __proto__: null, manager });

  let room = 0;
  const log = (...all) => {
    if (room <= 0 || state.over) return;
    let line = '';
    for (let i = 0; i < all.length && line.length < room; i++) {
      const v = named(all[i]);
      line += (i ? ' ' : '') + (typeof v === 'string' ? v : told(v));
    }
    const text = cut(line, room) + '\n';
    room -= text.length;
    for (let at = 0, end; at < text.length; at = end) {
      const last = apply(charCodeAt, text, [at + limits.piece - 1]);
      end = at + limits.piece + (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
      say('{"t":"log","text":', json(apply(slice, text, [at, end])), '}');
    }
  };
  const console = freeze({ __proto__: null, log, info: log, warn: log, error: log, debug: log });

  let timers = table(), timer = 1, pending = 0;
  const setTimeout = (fn, ms, ...rest) => {
    if (typeof fn !== 'function') throw new TypeErr('setTimeout(function, milliseconds)');
    if (state.over) throw new Err('the code has ended');
    if (pending >= 1000) throw new RangeErr('too many timers');
    const wait = +ms, id = timer++;
    timers[id] = { at: now() + (wait > 0 ? (wait < 1e9 ? wait : 1e9) : 0), fn, rest };
    pending++;
    return id;
  };
  const clearTimeout = (id) => {
    if (typeof id !== 'number' || timers[id] === undefined) return;
    delete timers[id];
    pending--;
  };

  const foreign = ['DOMException', 'btoa', 'atob', 'performance', 'queueMicrotask', 'Atomics', 'SharedArrayBuffer'];
  for (const name of foreign) delete world[name];
  delete JSON.rawJSON;
  delete JSON.isRawJSON;
  const ENDS = '\n\r\u2028\u2029';
  const short = (text) => {
    let lines = 0;
    for (let i = 0; i < 4; i++) {
      for (let at = 0; (at = apply(indexOf, text, [ENDS[i], at]) + 1) > 0; ) {
        if (++lines >= limits.made) throw new RangeErr('code that is made at work has at most ' + limits.made + ' lines');
      }
    }
    return text;
  };
  const maker = (real, name) => {
    const make = function (...parts) {
      for (let i = 0; i < parts.length; i++) place(parts, i, field(`${parts[i]}`, true));
      short(apply(join, parts, ['']));
      return construct(real, parts, new.target === undefined || new.target === make ? real : new.target);
    };
    define(make, 'name', { __proto__: null, value: name });
    define(make, 'length', { __proto__: null, value: 1 });
    define(make, 'prototype', fixed(real.prototype));
    const was = described(real.prototype, 'constructor');
    define(real.prototype, 'constructor', { __proto__: null, value: make, writable: was.writable });
    return make;
  };
  const made = maker(Function, 'Function');
  for (const text of ['async () => {}', 'function* () {}', 'async function* () {}']) {
    const real = getPrototypeOf(evaluate('(' + text + ')')).constructor;
    Object.setPrototypeOf(maker(real, real.name), made);
  }
  define(world, 'Function', field(made, false));
  define(world, 'eval', field({ eval: (text) => evaluate(typeof text === 'string' ? short(text) : text) }.eval, false));
  const memory = {};
  for (const name of ['ctx', 'console', 'setTimeout', 'clearTimeout']) {
    define(world, name, field({ ctx, console, setTimeout, clearTimeout }[name], false));
  }
  define(world, 'memory', fixed(memory));

  const clear = () => {
    timers = table();
    waiting = table();
    open = pending = 0;
  };
  const wrapped = (code, offset, lines, alone) => {
    height = lines;
    shift = 1;
    known = false;
    evaluate('({async f(ctx, memory, args, console) {\n' + code + '\n}})');
    shift = offset;
    known = alone;
    return evaluate('(async (ctx, memory, args, console) => {' + apply(repeat, '\n', [offset]) + code + '\n})');
  };
  const codeOf = (e) => {
    const text = safe(e);
    if (e === null || text === 'out of memory') return 'code.memory';
    return text === 'Maximum call stack size exceeded' ? 'code.stack' : 'code.raised';
  };
  return {
    seed(text) {
      const all = parse(text);
      for (const name of keys(all)) place(memory, name, field(all[name], true));
    },
    start(code, text, offset, lines, alone) {
      const mine = { over: false };
      state = mine;
      room = limits.output;
      clear();
      const args = parse(text);
      place(world, 'args', field(args, false));
      const end = (kind, fields) => {
        if (mine.over) return true;
        if (!say('{"t":"', kind, '"', fields, '}')) return false;
        mine.over = true;
        clear();
        return true;
      };
      const failed = (thrown, code, line) => {
        const e = thrown === null ? new Err('out of memory, or null was thrown') : thrown;
        const said = ',"name":' + json(nameOf(e)) + ',"message":' + json(safe(e));
        end('failed', said + ',"line":' + line + ',"code":"' + code + '"');
      };
      const done = (value) => {
        let text;
        try {
          text = fits(told(value), 'the value');
        } catch (e) {
          failed(e, 'code.message', 0);
          return;
        }
        if (!end('done', ',"value":' + text)) {
          failed(new RangeErr('the value is larger than ' + limits.message + ' bytes'), 'code.message', 0);
        }
      };
      let run;
      try {
        run = wrapped(code, offset, lines, alone);
      } catch (e) {
        failed(e, 'code.syntax', lineOf(e));
        return;
      }
      apply(then, apply(run, undefined, [ctx, memory, args, console]), [
        done,
        (e) => failed(e, codeOf(e), lineOf(e)),
      ]);
    },
    answer(id, ok, text, code) {
      const one = waiting[id];
      if (one === undefined) return;
      delete waiting[id];
      open--;
      if (ok) one.resolve(parse(text));
      else one.reject(refusal(text, code, one.line));
    },
    tick() {
      const at = now();
      let first = 0, when = Infinity;
      for (const id in timers) {
        if (timers[id].at < when) {
          when = timers[id].at;
          first = id;
        }
      }
      if (!first) return -1;
      if (when > at) return floor(when - at) + 1;
      const due = timers[first];
      delete timers[first];
      pending--;
      try {
        apply(due.fn, undefined, due.rest);
      } catch (e) {
        log('in a timer: ' + nameOf(e) + ': ' + safe(e));
      }
      return 0;
    },
    stop() {
      state.over = true;
      clear();
    },
    over: () => state.over,
    waits: () => open,
  };
}
