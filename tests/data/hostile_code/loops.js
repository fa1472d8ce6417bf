//# sync ! code.time
for (;;) {}
//# while-true-with-catch ! code.time
for (;;) { try { for (;;) {} } catch {} finally { continue } }
//# do-while-labels ! code.time
a: do { b: do { continue a } while (true) } while (true)
//# recursion-that-catches ! code.time code.stack code.raised
const f = () => { try { f() } catch { f() } }; for (;;) f()
//# promise-chain ! code.time code.memory code.unfinished
const f = () => Promise.resolve().then(f); await f()
//# microtask-storm ! code.time code.memory code.unfinished
const f = () => { Promise.resolve().then(f); Promise.resolve().then(f) }; f(); await new Promise(() => {})
//# await-zero ! code.time
for (;;) await 0
//# async-generator ! code.time
async function* g() { for (;;) yield 1 }; for await (const x of g()) {}
//# timers-of-zero ! code.time
const f = () => setTimeout(f, 0); f(); await new Promise(() => {})
//# regex-backtracking ! code.time
/^(a+)+$/.test('a'.repeat(40) + '!')
//# regex-nested-groups ! code.time
/^((a|aa)+)+b$/.exec('a'.repeat(60))
//# regex-lookbehind *
/(?<=(x+x+)+y)z/.test('x'.repeat(60) + 'z')
//# regex-backreference ! code.time
/^(.*)*\1$/.test('ab'.repeat(30) + 'c')
//# getter ! code.time
({ get x() { for (;;) {} } }).x
//# setter ! code.time
({ set x(v) { for (;;) {} } }).x = 1
//# proxy-get-trap ! code.time
new Proxy({}, { get() { for (;;) {} } }).x
//# proxy-own-keys-in-result ! code.time
return new Proxy({}, { ownKeys() { for (;;) {} } })
//# proxy-has-trap ! code.time
'x' in new Proxy({}, { has() { for (;;) {} } })
//# proxy-prototype-trap-in-instanceof ! code.time
throw new Proxy({}, { getPrototypeOf() { for (;;) {} }, has() { for (;;) {} } })
//# sort-callback ! code.time
[3, 1, 2].sort(() => { for (;;) {} })
//# sort-that-never-agrees ! code.time code.memory
for (;;) Array.from({ length: 100000 }, Math.random).sort(() => Math.random() - 0.5)
//# to-string ! code.time
'' + { toString() { for (;;) {} } }
//# value-of ! code.time
1 + { valueOf() { for (;;) {} } }
//# to-primitive ! code.time
`${{ [Symbol.toPrimitive]() { for (;;) {} } }}`
//# to-json-of-the-result ! code.time
return { toJSON() { for (;;) {} } }
//# to-json-of-arguments ! code.time
await ctx.manager.invoke('echo', { a: { toJSON() { for (;;) {} } } })
//# to-string-of-console ! code.time
console.log({ toJSON() { for (;;) {} } })
//# message-of-an-error ! code.time
throw { get message() { for (;;) {} } }
//# name-of-an-error ! code.time
throw Object.defineProperty(new Error('x'), 'name', { get() { for (;;) {} } })
//# message-to-string ! code.time
throw { message: { toString() { for (;;) {} } } }
//# generator ! code.time
for (const x of (function* () { for (;;) yield 1 })()) {}
//# generator-return ! code.time
const g = (function* () { try { yield 1 } finally { for (;;) {} } })(); g.next(); g.return()
//# iterator-protocol ! code.time
[...{ [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }.take?.(1) ?? { [Symbol.iterator]: () => ({ next: () => { for (;;) {} } }) }]
//# array-from-endless ! code.time code.memory
Array.from({ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) })
//# array-from-array-like ! code.raised code.time code.memory
Array.from({ length: 2 ** 53 - 1 })
//# json-reviver ! code.time
JSON.parse('{"a":1}', () => { for (;;) {} })
//# json-replacer ! code.time
JSON.stringify({ a: 1 }, () => { for (;;) {} })
//# replace-callback ! code.time
'a'.replace(/a/, () => { for (;;) {} })
//# replace-endless-exec ! code.time code.memory
const r = /a/g; r.exec = () => { const m = ['a']; m.index = 0; return m }; 'aaa'.replace(r, 'b')
//# match-all-endless ! code.time code.memory code.raised
const r = /a/g; r.constructor = { [Symbol.species]: function () { return { exec: () => ['a'], lastIndex: 0 } } }; [...'a'.matchAll(r)]
//# reflect-recursion ! code.time code.stack code.raised
const f = () => Reflect.apply(f, null, []); for (;;) try { f() } catch {}
//# proxy-chain ! code.time code.stack code.raised code.memory
let p = {}; for (let i = 0; i < 1e9; i++) p = new Proxy(p, {}); p.x
//# array-length-loop ! code.time
for (let i = 0; i < 2 ** 53; i++) Math.sqrt(i)
//# sparse-array-walk ! code.time
const a = []; a[4294967294] = 1; for (;;) a.indexOf(2, 0)
//# typed-array-sort ! code.time code.memory
for (;;) new Float64Array(1e6).map(Math.random).sort()
//# weird-date-loop ! code.time
for (;;) new Date('2020-01-01').toISOString()
//# bigint-multiply ! code.time code.memory code.raised
let x = 3n; for (;;) x = (x * x) % (2n ** 60000n)
//# with-unscopables ! code.time
with (new Proxy({}, { has() { for (;;) {} } })) { y }
//# thenable-that-never-ends ! code.time
await { then(resolve) { for (;;) {} } }
//# thenables-all-the-way ! code.time
const t = { then(resolve) { resolve(t) } }; await t
//# loop-after-return ! code.time
try { return 1 } finally { for (;;) {} }
//# loop-while-a-call-is-open ! code.time
ctx.manager.invoke('slow', {}); for (;;) {}
//# loop-in-what-answers-a-call ! code.time
ctx.manager.invoke('echo', {}).then(() => { for (;;) {} }); await new Promise(() => {})
//# loop-in-a-timer ! code.time
setTimeout(() => { for (;;) {} }, 1); await new Promise(() => {})
//# loop-at-compile-time ! code.time code.syntax
}); for (;;) {} (async () => {
//# loop-in-a-tagged-template ! code.time
((s, ...v) => { for (;;) {} })`a${1}b`
//# loop-in-a-class-field ! code.time
new (class { x = (() => { for (;;) {} })() })()
//# loop-in-a-static-block ! code.time
class A { static { for (;;) {} } }
//# loop-in-a-default-value ! code.time
((a = (() => { for (;;) {} })()) => a)()
//# loop-in-species ! code.time
class A extends Array { static get [Symbol.species]() { for (;;) {} } } new A(3).map(x => x)
