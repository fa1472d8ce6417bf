//# array-of-a-billion ! code.memory
new Array(1e9).fill(0)
//# push-for-ever ! code.memory code.time
const a = []; for (;;) a.push({})
//# string-of-a-gigabyte ! code.raised code.memory
return 'x'.repeat(2 ** 30).length
//# string-of-half-a-gigabyte ! code.memory
return 'x'.repeat(2 ** 29).length
//# string-doubling ! code.memory code.raised code.time
let s = 'x'; for (;;) s += s
//# wide-string-doubling ! code.memory code.raised code.time
let s = '\u4e00'; for (;;) s += s.toUpperCase() + s
//# pad-start ! code.memory code.raised
return 'x'.padStart(2 ** 30).length
//# pad-end-many ! code.memory code.raised code.time
const a = []; for (;;) a.push('x'.padEnd(2 ** 24, a.length))
//# join-of-a-long-array ! code.memory code.raised code.time
return new Array(2 ** 28).join('abcdefgh').length
//# join-of-itself ! code.memory code.raised code.time
let s = 'abc'; for (let i = 0; i < 60; i++) s = [s, s, s].join(s); return s.length
//# replace-that-grows ! code.memory code.raised code.time
let s = 'a'; for (;;) s = s.replaceAll('a', 'aaaaaaaa')
//# replace-with-dollar ! code.memory code.raised code.time
let s = 'a'.repeat(100000); for (;;) s = s.replace(/a+/, "$&$&$&$&")
//# array-buffer-of-a-gigabyte ! code.memory code.raised
return new ArrayBuffer(2 ** 30).byteLength
//# array-buffers ! code.memory
const a = []; for (;;) a.push(new ArrayBuffer(1 << 20))
//# resizable-buffer ! code.memory code.raised
const b = new ArrayBuffer(8, { maxByteLength: 2 ** 31 }); b.resize(2 ** 31); return b.byteLength
//# typed-array ! code.memory code.raised
return new Float64Array(2 ** 28).length
//# typed-array-from ! code.memory code.raised code.time
return Uint8Array.from({ length: 2 ** 31 }).length
//# map ! code.memory code.time
const m = new Map(); for (let i = 0; ; i++) m.set(i, i)
//# set ! code.memory code.time
const m = new Set(); for (let i = 0; ; i++) m.add('k' + i)
//# weak-map-with-live-keys ! code.memory code.time
const m = new WeakMap(), keep = []; for (;;) { const k = {}; keep.push(k); m.set(k, new Array(100)) }
//# closures ! code.memory code.time code.raised
let f = () => 0; for (;;) { const g = f; f = () => g }
//# symbols ! code.memory code.time
const a = []; for (let i = 0; ; i++) a.push(Symbol.for('k' + i))
//# objects-with-many-shapes ! code.memory code.time
const o = {}; for (let i = 0; ; i++) o['p' + i] = i
//# bigint-power ! code.raised code.memory code.time
return 2n ** (2n ** 40n)
//# bigint-shift ! code.raised code.memory code.time
let x = 1n; for (;;) x = x << 1000000n
//# bigint-to-string ! code.time code.raised code.memory
return (7n ** 400000n).toString().length + (() => { for (;;) (7n ** 400000n).toString() })()
//# deep-json-parse ! code.stack code.raised
return JSON.parse('['.repeat(1e6))
//# deep-json-stringify ! code.stack code.raised code.memory code.message
let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a).length
//# deep-result * 
let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a
//# deep-result-of-three-hundred ! code.message
let a = []; for (let i = 0; i < 300; i++) a = [a]; return a
//# deep-arguments = "RangeError"
let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; try { await ctx.manager.invoke('echo', a) } catch (e) { return e.name === 'TypeError' ? 'RangeError' : e.name }
//# deep-arguments-of-three-hundred = "code.message"
let a = {}; for (let i = 0; i < 300; i++) a = { a }; try { await ctx.manager.invoke('echo', a) } catch (e) { return e.code }
//# many-values-in-arguments = "code.message"
try { await ctx.manager.invoke('echo', { a: new Array(60000).fill(0) }) } catch (e) { return e.code }
//# many-values-in-the-result ! code.message
return new Array(60000).fill(0)
//# deep-promise-chain ! code.time code.memory code.unfinished code.raised
let p = Promise.resolve(); for (let i = 0; ; i++) p = p.then(() => p)
//# promises-that-wait ! code.memory code.time
const a = []; for (;;) a.push(new Promise(() => {}))
//# stack ! code.stack
const f = () => f(); f()
//# stack-with-wide-frames ! code.stack code.raised
const f = (...a) => f(...a, ...a, 1); f(1)
//# stack-by-to-string ! code.stack code.raised
const o = { toString: () => '' + o }; '' + o
//# stack-by-getter ! code.stack
const o = { get x() { return this.x } }; o.x
//# stack-by-proxy ! code.stack code.raised
const p = new Proxy({}, { get: (t, k) => p[k] }); p.x
//# stack-by-to-json ! code.stack code.raised
const o = { toJSON: () => JSON.stringify(o) }; JSON.stringify(o)
//# stack-by-regex-groups ! code.raised code.syntax code.stack code.memory code.time
new RegExp('('.repeat(1e6) + ')'.repeat(1e6)).test('x')
//# stack-by-nested-brackets-in-code ! code.raised code.syntax code.stack code.memory
eval('['.repeat(1e6) + ']'.repeat(1e6))
//# stack-by-nested-blocks-in-code ! code.raised code.syntax code.stack code.memory
eval('{'.repeat(1e6) + '}'.repeat(1e6))
//# stack-by-many-operators ! code.raised code.syntax code.stack code.memory code.time
eval('!'.repeat(3e6) + '1')
//# stack-by-arrow-functions ! code.raised code.syntax code.stack code.memory code.time
eval('x=>'.repeat(3e5) + '1')()
//# stack-by-flat * 
let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a.flat(Infinity).length
//# stack-by-bound-functions * 
let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(); return f()
//# stack-by-prototypes * 
let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); return o.x
//# stack-by-apply ! code.raised code.stack code.memory
Math.max(...new Array(1e7).fill(1))
//# many-arguments ! code.raised code.stack code.memory
Math.max.apply(null, { length: 1e8 })
//# many-locals-in-code ! code.raised code.syntax code.memory code.time
eval(Array.from({ length: 1e5 }, (_, i) => `let v${i}=${i}`).join(';') + ';v99999.x.y')
//# regex-of-a-large-count ! code.raised code.memory code.time code.syntax
new RegExp('(?:a{1,1000}){1,1000}'.repeat(50)).test('a'.repeat(1e5)); for (;;) {}
//# structured-error-causes ! code.memory code.time code.raised
let e = new Error('x'); for (;;) e = new Error('x', { cause: e })
//# error-with-a-long-message ! code.memory code.raised
throw new Error('x'.repeat(2 ** 26))
//# error-with-a-megabyte-of-message ! code.raised
throw new Error('x'.repeat(2 ** 20))
//# error-with-a-long-name ! code.raised
throw Object.assign(new Error('x'), { name: 'N'.repeat(2 ** 20) })
//# memory-kept-between-pieces ! code.memory code.time
memory.a = []; for (;;) memory.a.push(new ArrayBuffer(1 << 20))
//+ = "undefined"; lost
return typeof memory.a
//+ = 40
memory.a = []; for (let i = 0; i < 40; i++) memory.a.push(new ArrayBuffer(1 << 20)); return 40
//+ = 40
return memory.a.length
//# out-of-memory-is-caught-and-goes-on = "still here"
try { const a = []; for (;;) a.push(new ArrayBuffer(1 << 20)) } catch { return 'still here' }
//# groups-of-a-regex-by-name ! code.raised code.syntax code.memory
new RegExp(Array.from({ length: 1e5 }, (_, i) => `(?<g${i}>a)`).join('')).exec('a').groups.x.y
//# template-that-grows ! code.memory code.raised code.time
let s = 'x'; for (;;) s = `${s}${s}${s}`
//# date-far-away ! code.raised
return new Date(8.64e15 + 1).toISOString()
//# intl-is-not-there ! code.raised
return new Intl.NumberFormat('de').format(1)
//# array-species-allocation ! code.memory code.raised code.time
class A extends Array { constructor(n) { super(1e9); this.fill(0) } } new A().map(x => x)
//# flat-map-that-grows ! code.memory code.time
let a = [1]; for (;;) a = a.flatMap(x => [x, x, x])
//# object-from-entries ! code.memory code.time
Object.fromEntries((function* () { for (let i = 0; ; i++) yield ['k' + i, i] })())
