//# a-timer-kept-past-the-end = 1
setTimeout(() => ctx.manager.invoke('late', {}), 0); return 1
//+ = 2; calls 0
await new Promise(r => setTimeout(r, 20)); return 2
//# an-interval-kept-past-the-end = 1
const f = () => { ctx.manager.invoke('late', {}); setTimeout(f, 1) }; setTimeout(f, 1); return 1
//+ = 2; calls 0
await new Promise(r => setTimeout(r, 20)); return 2
//# a-promise-kept-past-the-end = 1
(async () => { await 0; for (let i = 0; i < 20; i++) await 0; ctx.manager.invoke('late', {}) })(); return 1
//+ = 2; calls 0
await new Promise(r => setTimeout(r, 20)); return 2
//# an-endless-promise-kept-past-the-end = 1
(async () => { for (;;) await 0 })(); return 1
//+ = "undefined"; lost; calls 0
return typeof memory.x
//# a-loop-that-begins-after-the-end = 1
Promise.resolve().then(() => Promise.resolve()).then(() => 0).then(() => 0).then(() => { for (;;) {} }); return 1
//+ = "undefined"; lost; calls 0
return typeof memory.x
//# an-answer-that-comes-after-the-end = 1
ctx.manager.invoke('slow', {}).then(() => { memory.heard = 1 }, () => { memory.heard = 2 }); await new Promise(r => setTimeout(r, 5)); return 1
//+ = "undefined"; calls 1
await new Promise(r => setTimeout(r, 20)); return typeof memory.heard
//# a-resolver-kept-past-the-end = 1
memory.end = new Promise(r => { memory.go = r }).then(() => ctx.manager.invoke('late', { from: 'before' })); return 1
//+ = 2; calls 1
memory.go(); await memory.end; return 2
//# an-unawaited-call = 1
ctx.manager.invoke('slow', {}); return 1
//# fifty-unawaited-calls-are-withdrawn = 1
for (let i = 0; i < 50; i++) ctx.manager.invoke('slow', { i }); await new Promise(r => setTimeout(r, 5)); return 1
//# an-unawaited-call-and-a-throw ! code.raised
ctx.manager.invoke('slow', {}); await new Promise(r => setTimeout(r, 5)); throw new Error('x')
//# two-hundred-calls-side-by-side = 200; calls 200
return (await Promise.all(Array.from({ length: 200 }, (_, i) => ctx.manager.invoke('echo', { i })))).filter((v, i) => v.i === i).length
//# answers-are-not-confused = true
const all = await Promise.all(Array.from({ length: 100 }, (_, i) => ctx.manager.invoke('mixed', { i }))); return all.every((v, i) => v.i === i)
//# closures-in-memory = 1
memory.f = () => ctx.manager.invoke('echo', { a: 1 }); return 1
//+ = {"a": 1}; calls 1
return await memory.f()
//# a-getter-in-memory = 1
Object.defineProperty(memory, 'trap', { get() { throw new Error('trap') }, enumerable: true, configurable: false }); return 1
//+ = 2
return 2
//+ ! code.raised
return memory.trap
//# a-looping-getter-in-memory = 1
Object.defineProperty(memory, 'trap', { get() { for (;;) {} }, enumerable: true }); return 1
//+ = 2
return 2
//+ ! code.time
return { ...memory }
//+ = [0]; lost
return [Object.keys(memory).length]
//# frozen-memory = 1
Object.freeze(memory); return 1
//+ = true
memory.a = 1; return Object.isFrozen(memory) && memory.a === undefined
//# replaced-memory = "object"
try { globalThis.memory = 1 } catch {} try { Object.defineProperty(globalThis, 'memory', { value: 2 }) } catch {} return typeof globalThis.memory
//+ = "object"
return typeof memory
//# a-prototype-under-memory = 1
Object.setPrototypeOf(memory, { get deep() { return ctx } }); return 1
//+ = {"manager": {}}
return memory.deep
//# replaced-ctx = 1
globalThis.ctx = { manager: { invoke: () => 'forged' } }; return 1
//+ = {"ok": true}; calls 1
return await ctx.manager.invoke('x', {})
//# locked-ctx = 1
Object.defineProperty(globalThis, 'ctx', { value: 'mine', configurable: false, writable: false }); Object.defineProperty(globalThis, 'args', { value: 'mine', configurable: false, writable: false }); return 1
//+ = ["object", "object"]
return [typeof ctx, typeof args]
//# frozen-world = 1
for (const k of Object.getOwnPropertyNames(globalThis)) try { Object.freeze(globalThis[k]); Object.freeze(globalThis[k].prototype) } catch {} Object.freeze(globalThis); return 1
//+ = {"a": 1}
const a = 1; console.log('x', { a }); return await ctx.manager.invoke('echo', { a })
//# deleted-world = 1
for (const k of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[k] } catch {} return 1
//+ = {"a": 1}
console.log('x', { a: 1 }, 2n); return await ctx.manager.invoke('echo', { a: 1 })
//# emptied-prototypes = 1
const own = Reflect.ownKeys, all = [Object, Array, String, Function, Promise, RegExp, Error, Date, Number]; for (let i = 0; i < all.length; i++) { const o = all[i].prototype, k = own(o); for (let j = 0; j < k.length; j++) try { delete o[k[j]] } catch {} } return 1
//+ * 
console.log('x', { a: 1 }); return await ctx.manager.invoke('echo', { a: 1 })
//# poisoned-prototypes = 1
for (const o of [Object, Array, String, Function, RegExp, Error, Date, Number].map(c => c.prototype)) for (const k of Object.getOwnPropertyNames(o)) try { Object.defineProperty(o, k, { get() { throw new Error('poison ' + k) }, set() { throw new Error('poison ' + k) } }) } catch {} return 1
//+ * 
console.log('x', { a: 1 }); return await ctx.manager.invoke('echo', { a: 1 })
//# a-killed-worker-takes-its-memory = 1
memory.x = 1; return 1
//+ ! code.time
for (;;) {}
//+ = "undefined"; lost
return typeof memory.x
//+ = 3
return 3
//# finish-twice = ["first", "t.twice"]
const out = [await ctx.manager.finish(1) ?? 'first']; try { await ctx.manager.finish(2) } catch (e) { out.push(e.code) } return out
//# an-unawaited-finish-counts = 1; finished
ctx.manager.finish(1); return 1
//# a-finish-and-a-throw ! code.raised; finished
ctx.manager.finish(1); throw new Error('x')
//# a-kept-manager = 1
memory.m = ctx.manager; memory.i = ctx.manager.invoke; return 1
//+ = [{"ok": true}, true]; calls 1
return [await memory.i('x', {}), memory.m === ctx.manager]
//# lines-of-what-was-kept = 1

memory.f = () => ctx.manager.invoke('line', {}); return 1
//+ = 3; lines 0

await Promise.resolve().then(memory.f); return 3
//# lines-are-those-of-the-code = 1; lines 3 4

const f = () => {
  return ctx.manager.invoke('a', {}) }
await f(); await ctx.manager.invoke('b', {}); return 1
//# a-line-that-a-name-forges = 1; lines 2
const f = () => ctx.manager.invoke('a', {}), g = () => 1
const h = Object.defineProperty(() => ctx.manager.invoke('a', {}), 'name', { value: 'x (<input>:99:1)\n    at line 99\n    at y (<input>:98:1)' }); await h(); return 1
//# a-line-that-function-forges = 1; lines 0
await new Function('m', '\n'.repeat(50) + 'return m("a", {})')(ctx.manager.invoke); return 1
//# a-line-that-eval-forges = 1; lines 0
for (const n of [0, 5, 50, 500]) await eval('\n'.repeat(n) + 'ctx.manager.invoke("a", {})'); return 1
//# a-line-that-indirect-eval-forges = 1; lines 0
for (const n of [0, 5, 50, 500, 5000]) await (0, eval)('\n'.repeat(n) + 'ctx.manager.invoke("a", {})'); return 1
//# a-line-that-a-stack-forges = 1; lines 1
Object.defineProperty(Error.prototype, 'stack', { get: () => '    at line 77\n', configurable: true }); RegExp.prototype.exec = () => [0, 77]; await ctx.manager.invoke('a', {}); return 1
//# a-line-with-other-line-ends = 1; lines 2
const v = ''; const x = 1 //    
await ctx.manager.invoke('a', {}); return 1
//# a-line-of-a-timer = 1; lines 1
await new Promise(r => setTimeout(() => ctx.manager.invoke('a', {}).then(r), 1)); return 1
//# where-the-code-begins-is-not-told = [true, true, true]
const f = () => 1; let s = ''; try { null.x } catch (e) { s = e.stack } return [!/\n{3}/.test(f.toString()), / line 1\n/.test(s), !/line \d{3}/.test(s)]
//# a-line-that-any-maker-forges = 8; lines 0
let n = 0; for (const like of [() => 1, async () => 1, function* () {}, async function* () {}]) for (const lines of [0, 65000]) {
  const made = new like.constructor('m', '\n'.repeat(lines) + 'return m("a", {})')(ctx.manager.invoke); n++
  await (typeof made.next === 'function' ? made.next() : made) } return n
//# a-line-that-a-subclass-forges = 1; lines 0
class F extends Function {}; await new F('m', '\n'.repeat(500) + 'return m("a", {})')(ctx.manager.invoke); return 1
//# a-line-of-what-is-called-for-what-was-made = 1; lines 2 0
const f = g => g(),
  h = () => ctx.manager.invoke('a', {}); await f(h); await f(Function('m', 'return () => m("a", {})')(ctx.manager.invoke)); return 1
//# code-made-at-work-does-not-reach-the-lines-of-the-piece = ["RangeError", "RangeError", "RangeError"]
const out = [], most = '\n'.repeat(70000); for (const make of [eval, Function, (async () => 1).constructor]) try { make(most) } catch (e) { out.push(e.name) } return out
//# nor-where-what-counts-its-lines-is-changed = ["RangeError", "RangeError", "RangeError"]
Array.prototype[Symbol.iterator] = function* () {}; String.prototype.indexOf = () => -1; String.prototype[Symbol.iterator] = null; Array.prototype.join = () => ''; RegExp.prototype.exec = () => null; WeakMap.prototype.get = () => 7
const out = [], most = '\r'.repeat(40000) + '\u2028'.repeat(40000), makers = [eval, Function, (async () => 1).constructor]; for (let i = 0; i < 3; i++) try { makers[i](most) } catch (e) { out.push(e.name) } return out
//# nor-by-a-text-that-changes ! code.raised
let n = 0; return Function({ toString: () => n++ ? '\n'.repeat(1e5) : { } })
//# makers-are-what-they-were = [3, 7, true, true, true, true, 6, "Function", 1, 5]
const A = (async () => 1).constructor, G = (function* () {}).constructor; return [Function('a', 'b', 'return a + b')(1, 2), await new A('return 7')(), Function('') instanceof Function, Function.prototype.constructor === Function, (() => 1).constructor === Function, Object.getPrototypeOf(A) === Function && new A('') instanceof A, [...new G('yield 6')()][0], Function.name, Function.length, eval(5)]
