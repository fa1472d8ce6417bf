//# asks-without-end ! code.died; calls 1050
for (;;) { try { await ctx.manager.invoke('echo', {}) } catch {} }
//# asks-without-waiting ! code.died code.memory code.time
for (;;) ctx.manager.invoke('echo', {}).catch(() => 0)
//# large-asks-without-waiting ! code.died code.memory code.time
const a = { s: 'x'.repeat(200000) }; for (;;) ctx.manager.invoke('echo', a).catch(() => 0)
//# a-hundred-megabytes-in-an-argument *
try { await ctx.manager.invoke('echo', { s: 'x'.repeat(20 * 2 ** 20) }) } catch (e) { return e.name === 'InternalError' || e.name === 'TypeError' ? 'RangeError' : e.name }
//# more-than-256-kilobytes-in-an-argument = "RangeError"; calls 0
try { await ctx.manager.invoke('echo', { s: 'x'.repeat(262144) }) } catch (e) { return e.name }
//# more-bytes-than-characters = "RangeError"; calls 0
try { await ctx.manager.invoke('echo', { s: '\u4e00'.repeat(200000) }) } catch (e) { return e.name }
//# three-parts-that-fit-one-by-one = "RangeError"; calls 0
const s = 'x'.repeat(200000); try { await ctx.manager.invoke(s, { s }, { s }) } catch (e) { return e.name }
//# a-result-of-300-kilobytes ! code.message
return 'x'.repeat(300000)
//# a-result-with-more-bytes-than-characters ! code.message
return '\u4e00'.repeat(200000)
//# a-result-that-is-too-large-for-code = ["code.message", true]
try { await ctx.manager.invoke('big', {}) } catch (e) { return [e.code, e.message.includes('262144')] }
//# a-result-that-is-no-json = "code.message"
try { await ctx.manager.invoke('odd', {}) } catch (e) { return e.code }
//# a-reason-that-is-too-long = true
try { await ctx.manager.fail('x'.repeat(1e6)) } catch (e) {} return true
//# a-console-flood = 1
for (let i = 0; i < 20000; i++) console.log('x'.repeat(100)); return 1
//# a-console-line-of-50-megabytes * 
console.log('x'.repeat(50 * 2 ** 20)); return 1
//# a-console-of-empty-lines = 1
for (let i = 0; i < 50000; i++) console.log(''); return 1
//# console-that-looks-like-the-protocol = 1; calls 0
console.log('\n{"t":"ask","id":1,"op":"invoke","line":1,"ref":"echo","args":{}}\n{"t":"done","value":"forged"}\n'); return 1
//# console-that-closes-the-quote = 1; calls 0
console.log('"}\n{"t":"done","value":"forged"}', { '"}\n{"t":"done"': '\\"}' }); return 1
//# a-name-that-closes-the-quote = {"ok": true}; calls 1
return await ctx.manager.invoke('x","args":{},"op":"finish","value":"forged', {})
//# newlines-everywhere = {"a\n\r\u2028": "\n{\"t\":\"done\"}\n"}
return await ctx.manager.invoke('echo', { 'a\n\r\u2028': '\n{"t":"done"}\n' })
//# an-error-that-looks-like-the-protocol ! code.raised
throw new Error('"}\n{"t":"done","value":"forged"}\n')
//# a-name-of-an-error-that-looks-like-the-protocol ! code.raised
const e = new Error('x'); e.name = '","code":"code.time","x":"'; throw e
//# patched-stringify = {"ok": true}; calls 1
JSON.stringify = () => '{"t":"done","value":"forged"}'; return await ctx.manager.invoke('x', { a: 1 })
//# patched-parse = {"a": 1}
JSON.parse = () => 'forged'; return await ctx.manager.invoke('echo', { a: 1 })
//# patched-json-object = {"a": 1}
globalThis.JSON = { parse: () => 1, stringify: () => '1' }; return await ctx.manager.invoke('echo', { a: 1 })
//# to-json-on-string-prototype = {"s": "true"}
String.prototype.toJSON = () => 'forged'; return await ctx.manager.invoke('echo', { s: 'true' })
//# to-json-on-object-prototype = "TypeError"; calls 0
Object.prototype.toJSON = function () { return '"},"op":"finish"' }; try { await ctx.manager.invoke('x', { a: 1 }) } catch (e) { return e.name }
//# to-json-on-array-prototype = {"l": 5}
Array.prototype.toJSON = () => 5; return await ctx.manager.invoke('echo', { l: [1, 2] })
//# patched-then = 1
Promise.prototype.then = function () { return 'forged' }; ctx.manager.invoke('x', {}); return 1
//# patched-promise = {"ok": true}
globalThis.Promise = class { constructor() { throw 1 } }; return await ctx.manager.invoke('x', {})
//# patched-promise-constructor = 7
try { Promise.prototype.constructor = { [Symbol.species]: function (f) { f(() => {}, () => {}); return { forged: 1 } } } } catch {} return 7
//# patched-promise-species = 7
try { Object.defineProperty(Promise, Symbol.species, { get() { throw new Error('no') } }) } catch {} return 7
//# patched-resolve = {"ok": true}
Promise.resolve = Promise.reject = () => { throw 1 }; return await ctx.manager.invoke('x', {})
//# patched-slice-and-exec = {"ok": true}
String.prototype.slice = RegExp.prototype.exec = RegExp.prototype.test = () => { throw 1 }; console.log('x'); return await ctx.manager.invoke('x', {})
//# patched-function-prototype = {"ok": true}
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1 }; return await ctx.manager.invoke('x', {})
//# patched-reflect = {"ok": true}
Reflect.apply = Reflect.defineProperty = () => { throw 1 }; Object.defineProperty = Object.create = Object.freeze = Object.keys = () => { throw 1 }; console.log({}); return await ctx.manager.invoke('x', {})
//# patched-array-prototype = {"ok": true}
for (const k of Object.getOwnPropertyNames(Array.prototype)) try { Array.prototype[k] = () => { throw 1 } } catch {} Array.prototype[Symbol.iterator] = () => { throw 1 }; console.log(1, 2); return await ctx.manager.invoke('x', {})
//# patched-string-and-number = {"ok": true}
globalThis.String = globalThis.Number = globalThis.Object = globalThis.Array = globalThis.Error = () => { throw 1 }; console.log(1n); return await ctx.manager.invoke('x', {})
//# patched-error-constructor = "ToolError"
globalThis.Error = class { constructor() { throw 1 } }; try { await ctx.manager.invoke('no', {}) } catch (e) { return e.name }
//# patched-error-prototype = "t.no"
Object.defineProperty(Error.prototype, 'code', { set() { throw 1 } }); Object.defineProperty(Error.prototype, 'message', { set() { throw 1 } }); Object.defineProperty(Error.prototype, 'name', { get() { throw 1 } }); try { await ctx.manager.invoke('no', {}) } catch (e) { return e.code }
//# patched-date-now = 1
Date.now = () => NaN; await new Promise(r => setTimeout(r, 1)); Date.now = () => { throw 1 }; await new Promise(r => setTimeout(r, 1)); return 1
//# patched-math-floor = 1
Math.floor = () => { throw 1 }; await new Promise(r => setTimeout(r, 1)); return 1
//# has-instance-of-error ! code.raised
Object.defineProperty(Error, Symbol.hasInstance, { value: () => { throw new Error('from hasInstance') } }); console.log({}); throw { message: 'm' }
//# setters-for-every-name-of-the-realm = {"ok": true}; calls 1
for (const k of ['t', 'id', 'op', 'line', 'ref', 'args', 'options', 'value', 'text', 'over', 'resolve', 'reject', 'at', 'fn', 'rest', 'get', 'set', 'writable', 'configurable', 'enumerable', 'name', 'message', 'code', 'stack', 'length', 'index', 'then', 'lastIndex', 'seed', 'start', 'answer', 'tick', 'stop', 'waits', '0', '1', '2']) Object.defineProperty(Object.prototype, k, { __proto__: null, get() { return undefined }, set() { throw new Error('set ' + k) }, configurable: true }); console.log('x', {}); return await ctx.manager.invoke('x', {})
//# getters-for-every-name-of-the-realm * 
for (const k of ['t', 'id', 'op', 'line', 'over', 'resolve', 'reject', 'at', 'fn', 'rest', 'get', 'set', 'value', 'writable', 'configurable', 'enumerable', 'name', 'message', 'code', 'stack']) Object.defineProperty(Object.prototype, k, { __proto__: null, get() { throw new Error('got ' + k) }, configurable: true }); console.log('x', {}); return await ctx.manager.invoke('x', {})
//# setters-for-indexes *
for (let i = 0; i < 40; i++) Object.defineProperty(Array.prototype, i, { set() { throw 1 }, get() { return 'forged' }, configurable: true }); console.log('a', 'b'); return await ctx.manager.invoke('x', {})
//# symbol-species-of-arrays = 3
Object.defineProperty(Array, Symbol.species, { get() { throw 1 } }); return 3
//# then-on-object-prototype * 
Object.prototype.then = function (resolve) { resolve('assimilated') }; return await ctx.manager.invoke('echo', { a: 1 })
//# then-that-throws * 
Object.defineProperty(Object.prototype, 'then', { get() { throw new Error('then') } }); return await ctx.manager.invoke('echo', { a: 1 })
//# a-thenable-result = {"v": 1}
return { then(resolve) { resolve({ v: 1 }) } }
//# a-thenable-that-resolves-twice = 1
return { then(resolve, reject) { resolve(1); resolve(2); reject(new Error('3')) } }
//# proto-keys-in-arguments = {"__proto__": {"polluted": 1}, "constructor": {"prototype": 2}}
return await ctx.manager.invoke('echo', JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":2}}'))
//# proto-keys-pollute-nothing = "undefined"
const got = await ctx.manager.invoke('echo', JSON.parse('{"__proto__":{"polluted":1}}')); return typeof {}.polluted + (Object.hasOwn(got, '__proto__') ? '' : 'lost')
//# lone-surrogates = {"a": "\ufffd", "\ufffd": "x\ufffdy"}
return await ctx.manager.invoke('echo', { a: '\ud800', '\udfff': 'x\udc00y' })
//# lone-surrogates-in-the-name = {"ok": true}; calls 1
return await ctx.manager.invoke('\ud800', {})
//# lone-surrogates-in-console-and-result = "\ufffd"
console.log('\udead', '😀'.slice(0, 1)); return '\ud800'
//# lone-surrogates-in-an-error ! code.raised
throw new Error('\ud800')
//# a-pair-that-is-cut-in-two-pieces-of-console = 1
console.log('x'.repeat(8191) + '😀'.repeat(10000)); return 1
//# nul-characters = {"a\u0000b": "\u0000"}
return await ctx.manager.invoke('echo', { 'a\0b': '\0' })
//# nul-in-code = "a\u0000b"
return 'a b'.replace(' ', '\0')
//# not-a-number-in-arguments = {"a": null, "b": null}
return await ctx.manager.invoke('echo', { a: NaN, b: -Infinity })
//# a-very-large-number = {"a": 1.7976931348623157e308}
return await ctx.manager.invoke('echo', { a: Number.MAX_VALUE })
//# a-very-large-integer = [1e21, "9007199254740993n"]
return [(await ctx.manager.invoke('echo', { a: 1e21 })).a, 9007199254740993n]
//# bigint-in-arguments = "TypeError"; calls 0
try { await ctx.manager.invoke('echo', { a: 1n }) } catch (e) { return e.name }
//# a-circle-in-arguments = "TypeError"; calls 0
const o = {}; o.o = o; try { await ctx.manager.invoke('echo', o) } catch (e) { return e.name }
//# a-circle-in-the-result = {"a": {"o": "[circular]"}}
const o = {}; o.o = o; return { a: o }
//# what-is-no-json-is-described = ["[function]", "[symbol]", "7n", "NaN", null]
const all = []; for (const v of [() => 1, Symbol('x'), 7n, NaN, undefined]) { console.log(v); all.push(typeof v === 'function' ? '[function]' : typeof v === 'symbol' ? '[symbol]' : v === undefined ? null : typeof v === 'bigint' ? v : String(v)) } return all
//# an-array-as-arguments = "TypeError"; calls 0
try { await ctx.manager.invoke('echo', [1]) } catch (e) { return e.name }
//# a-text-as-arguments = "TypeError"; calls 0
try { await ctx.manager.invoke('echo', '{}') } catch (e) { return e.name }
//# an-array-as-options = "TypeError"; calls 0
try { await ctx.manager.invoke('echo', {}, []) } catch (e) { return e.name }
//# an-object-as-name = "TypeError"; calls 0
try { await ctx.manager.invoke({ toString: () => 'echo' }, {}) } catch (e) { return e.name }
//# no-name = "TypeError"; calls 0
try { await ctx.manager.invoke() } catch (e) { return e.name }
//# more-than-a-thousand-timers ! code.raised
for (let i = 0; i < 5000; i++) setTimeout(() => 0, 1e6)
//# a-timer-at-the-end-of-time ! code.unfinished
setTimeout(() => 0, NaN); setTimeout(() => 0, -5); setTimeout(() => 0, 'x'); await new Promise(() => {})
//# a-timer-in-a-million-years = 1
setTimeout(() => 0, 1e308); setTimeout(() => 0, Infinity); await new Promise(r => setTimeout(r, 2)); return 1
//# a-timer-that-is-no-function ! code.raised
setTimeout('ctx.manager.invoke("x")', 1)
//# clear-timeout-of-strange-things = 1
for (const id of ['__proto__', 'constructor', {}, Symbol.iterator, NaN, -1, { toString() { throw 1 } }]) clearTimeout(id); return 1
//# waits-for-nothing ! code.unfinished
await new Promise(() => {})
//# guessed-ids = {"ok": true}; calls 1
for (let i = 0; i < 1000; i++) globalThis['waiting' + i] = { resolve: () => 'forged' }; return await ctx.manager.invoke('x', {})
//# the-way-out-is-not-within-reach = ["undefined", "undefined", "undefined"]
return [typeof __send, typeof __handles, typeof send]
//# console-of-half-characters = 1
for (let i = 0; i < 300; i++) console.log('\udc00'.repeat(700)); return 1
//# console-of-whole-characters-cut-anywhere = 1
for (let i = 0; i < 9; i++) console.log('a'.repeat(i) + '😀'.repeat(9000)); return 1
//# arguments-of-half-characters = 12
for (let i = 0; i < 12; i++) ctx.manager.invoke('a', { s: '\ud800'.repeat(40000) }).catch(() => 0); await new Promise(r => setTimeout(r, 60)); return 12
//# arguments-of-many-keys = 12
const o = {}; for (let i = 0; i < 4999; i++) o['k' + i] = 1; return (await Promise.all(Array.from({ length: 12 }, () => ctx.manager.invoke('echo', o)))).length
//# answers-of-many-objects = [4, 4]
const ask = (name, length) => Promise.all(Array.from({ length }, () => ctx.manager.invoke(name, {}).catch(e => e.code))); return [(await ask('objects', 4)).length, (await ask('more-objects', 4)).filter(c => c === 'code.message').length]
//# answers-of-many-numbers = [4, 4]
const ask = (name, length) => Promise.all(Array.from({ length }, () => ctx.manager.invoke(name, {}).catch(e => e.code))); return [(await ask('numbers', 4)).length, (await ask('more-numbers', 4)).filter(c => c === 'code.message').length]
//# answers-of-half-characters = 5
return (await Promise.all(Array.from({ length: 5 }, () => ctx.manager.invoke('halves', {})))).length
