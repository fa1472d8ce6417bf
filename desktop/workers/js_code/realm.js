(send, limits) => {
  const { parse, stringify } = JSON;
  const Str = String, Err = Error, TypeErr = TypeError, RangeErr = RangeError, Prom = Promise;
  const apply = Reflect.apply, create = Object.create, define = Object.defineProperty, freeze = Object.freeze;
  const keys = Object.keys, then = Prom.prototype.then, exec = RegExp.prototype.exec;
  const slice = Str.prototype.slice, now = Date.now, floor = Math.floor;
  const AsyncFunction = Object.getPrototypeOf(async function () {}).constructor;
  const table = () => create(null);

  define(Err, 'prepareStackTrace', { value: undefined, writable: false, configurable: false });
  define(Err, 'stackTraceLimit', { value: 20, writable: false, configurable: false });

  const lineOf = (stack) => {
    const text = typeof stack === 'string' ? stack : '';
    const find = /<input>:(\d+):\d+/g;
    for (let i = 0; i < 40; i++) {
      const found = apply(exec, find, [text]);
      if (found === null) return 0;
      const line = +found[1];
      if (line > 2) return line - 2;
    }
    return 0;
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
  const stackOf = (e) => {
    try {
      return e && typeof e === 'object' ? e.stack : '';
    } catch (_) {
      return '';
    }
  };
  const json = (value) => apply(stringify, undefined, [value]);
  const plain = (value, what) => {
    let text;
    try {
      text = json(value);
    } catch (e) {
      throw new TypeErr(what + ' cannot be sent: ' + safe(e));
    }
    if (text === undefined) return 'null';
    if (text.length > limits.message) throw new RangeErr(what + ' is larger than ' + limits.message + ' bytes');
    return text;
  };
  const described = (v) => {
    if (v === undefined || v === null) return null;
    if (typeof v === 'function') return '[function]';
    if (typeof v === 'symbol') return '[symbol]';
    if (typeof v === 'bigint') return Str(v) + 'n';
    if (typeof v === 'number' && !(v - v === 0)) return Str(v);
    return v instanceof Err ? nameOf(v) + ': ' + safe(v) : v;
  };

  let waiting = table(), next = 1, open = 0;
  class ToolError extends Err {
    constructor(message, code) {
      super(message);
      this.code = code;
    }
    get name() {
      return 'ToolError';
    }
  }
  const ask = (op, fields) => {
    const line = lineOf(new Err('').stack);
    return new Prom((resolve, reject) => {
      const id = next++;
      waiting[id] = { resolve, reject };
      open++;
      try {
        send('{"t":"ask","id":' + id + ',"op":"' + op + '","line":' + line + fields + '}');
      } catch (e) {
        delete waiting[id];
        open--;
        reject(e);
      }
    });
  };
  const manager = freeze({
    __proto__: null,
    invoke(ref, args, options) {
      if (typeof ref !== 'string') throw new TypeErr('invoke(name, args): the name is a text');
      const name = plain(ref, 'the name');
      const given = plain(args === undefined ? {} : args, 'the arguments');
      const more = plain(options === undefined ? {} : options, 'the options');
      return ask('invoke', ',"ref":' + name + ',"args":' + given + ',"options":' + more);
    },
    finish(value) {
      return ask('finish', ',"value":' + plain(value === undefined ? null : value, 'the value'));
    },
    fail(reason) {
      return ask('fail', ',"value":' + plain(safe(reason), 'the reason'));
    },
    next() {
      return ask('next', '');
    },
  });
  const ctx = freeze({ __proto__: null, manager });

  let room = 0;
  const shown = (v) => {
    if (typeof v === 'string') return v;
    const simple = described(v);
    if (typeof simple === 'string') return simple;
    try {
      return Str(json(v));
    } catch (e) {
      return '[' + safe(e) + ']';
    }
  };
  const log = (...all) => {
    if (room <= 0) return;
    let line = '';
    for (let i = 0; i < all.length && line.length < room; i++) line += (i ? ' ' : '') + shown(all[i]);
    const text = cut(line, room) + '\n';
    room -= text.length;
    send('{"t":"log","text":' + json(text) + '}');
  };
  const console = freeze({ __proto__: null, log, info: log, warn: log, error: log, debug: log });

  let timers = table(), timer = 1;
  const setTimeout = (fn, ms, ...rest) => {
    if (typeof fn !== 'function') throw new TypeErr('setTimeout(function, milliseconds)');
    let count = 0;
    for (const _ in timers) count++;
    if (count >= 1000) throw new RangeErr('too many timers');
    const wait = +ms, id = timer++;
    timers[id] = { at: now() + (wait > 0 ? wait : 0), fn, rest };
    return id;
  };
  const clearTimeout = (id) => {
    delete timers[id];
  };

  const foreign = ['DOMException', 'btoa', 'atob', 'performance', 'queueMicrotask', 'Atomics', 'SharedArrayBuffer'];
  for (const name of foreign) delete globalThis[name];
  const memory = {};
  const given = { ctx, console, setTimeout, clearTimeout };
  for (const name of keys(given)) {
    define(globalThis, name, { value: given[name], writable: true, configurable: true, enumerable: false });
  }
  define(globalThis, 'memory', { value: memory, writable: false, configurable: false, enumerable: false });

  let state = null;
  const clear = () => {
    timers = table();
    waiting = table();
    open = 0;
  };
  const set = (at, name, value, enumerable) =>
    define(at, name, { __proto__: null, value, writable: true, configurable: true, enumerable });
  return {
    seed(text) {
      const all = parse(text);
      for (const name of keys(all)) set(memory, name, all[name], true);
    },
    start(code, text) {
      const mine = { over: false };
      state = mine;
      room = limits.output;
      clear();
      const args = parse(text);
      set(globalThis, 'args', args, false);
      const end = (kind, fields) => {
        if (mine.over) return;
        mine.over = true;
        clear();
        send('{"t":"' + kind + '"' + fields + '}');
      };
      const failed = (e, code, line) => {
        const said = ',"name":' + json(nameOf(e)) + ',"message":' + json(safe(e));
        end('failed', said + ',"line":' + line + ',"code":"' + code + '"');
      };
      let run;
      try {
        run = new AsyncFunction('ctx', 'memory', 'args', 'console', code);
      } catch (e) {
        failed(e, 'code.syntax', lineOf(stackOf(e)));
        return;
      }
      const done = (value) => {
        let sent;
        try {
          sent = plain(described(value), 'the value');
        } catch (e) {
          failed(e, 'code.message', 0);
          return;
        }
        end('done', ',"value":' + sent);
      };
      apply(then, apply(run, undefined, [ctx, memory, args, console]), [
        done,
        (e) => failed(e, 'code.raised', lineOf(stackOf(e))),
      ]);
    },
    answer(id, ok, text, code) {
      const known = waiting[id];
      if (known === undefined) return;
      delete waiting[id];
      open--;
      if (ok) known.resolve(parse(text));
      else known.reject(new ToolError(text, code));
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
      try {
        apply(due.fn, undefined, due.rest);
      } catch (e) {
        log('in a timer: ' + nameOf(e) + ': ' + safe(e));
      }
      return 0;
    },
    over: () => state === null || state.over,
    waits: () => open,
  };
}
