//# static-import ! code.syntax
import fs from 'fs'; return 1
//# static-import-of-nothing ! code.syntax
import 'x'
//# export ! code.syntax
export const a = 1
//# dynamic-import-of-a-module ! code.raised
return await import('os')
//# dynamic-import-of-a-file ! code.raised
return await import('/etc/passwd')
//# dynamic-import-of-a-url ! code.raised
return await import('https://example.com/x.js')
//# dynamic-import-of-data ! code.raised
return await import('data:text/javascript,export default 1')
//# dynamic-import-of-quickjs-modules = ["ReferenceError", "ReferenceError", "ReferenceError", "ReferenceError"]
const got = []; for (const m of ['std', 'os', 'qjs:std', 'qjs:os']) try { await import(m); got.push('ran') } catch (e) { got.push(e.name) } return got
//# dynamic-import-of-an-object ! code.raised
return await import({ toString() { return 'std' } })
//# dynamic-import-in-eval ! code.raised
return await eval('import("std")')
//# dynamic-import-in-a-function ! code.raised
return await new Function('return import("os")')()
//# dynamic-import-with-attributes ! code.raised code.syntax
return await import('/etc/passwd', { with: { type: 'json' } })
//# import-meta ! code.syntax
return import.meta.url
//# import-meta-in-eval ! code.raised
return eval('import.meta')
//# require ! code.raised
return require('fs')
//# node-deno-bun = "undefined undefined undefined undefined undefined undefined"
return [typeof process, typeof Deno, typeof Bun, typeof module, typeof exports, typeof Buffer].join(' ')
//# browser-things = "undefined undefined undefined undefined undefined undefined undefined"
return [typeof window, typeof fetch, typeof XMLHttpRequest, typeof WebSocket, typeof Worker, typeof WebAssembly, typeof localStorage].join(' ')
//# engine-things = "undefined undefined undefined undefined undefined undefined undefined"
return [typeof std, typeof os, typeof print, typeof scriptArgs, typeof bjson, typeof gc, typeof load].join(' ')
//# python-things = "undefined undefined undefined undefined"
return [typeof __import__, typeof python, typeof sys, typeof globals].join(' ')
//# shared-memory = "undefined undefined undefined"
return [typeof SharedArrayBuffer, typeof Atomics, typeof performance].join(' ')
//# all-globals-are-the-languages-own = []
const own = new Set('Object Function Error EvalError RangeError ReferenceError SyntaxError TypeError URIError InternalError AggregateError SuppressedError Iterator Array parseInt parseFloat isNaN isFinite decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape Infinity NaN undefined eval Number Boolean String Math Reflect Symbol DisposableStack AsyncDisposableStack globalThis BigInt Date RegExp JSON Proxy Map Set WeakMap WeakSet ArrayBuffer Uint8ClampedArray Int8Array Uint8Array Int16Array Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array Float16Array Float32Array Float64Array DataView Promise WeakRef FinalizationRegistry ctx memory args console setTimeout clearTimeout'.split(' ')); return Object.getOwnPropertyNames(globalThis).filter(n => !own.has(n))
//# eval-sees-the-same-world = ["undefined", "undefined"]
return [eval('typeof process'), (0, eval)('typeof require')]
//# function-constructor = "undefined"
return new Function('return typeof process')()
//# async-function-constructor = "undefined"
return await new (async () => {}).constructor('return typeof process')()
//# generator-function-constructor = "undefined"
return [...new (function* () {}).constructor('yield typeof process')()][0]
//# async-generator-constructor = "undefined"
for await (const x of new (async function* () {}).constructor('yield typeof process')()) return x
//# constructor-of-constructor = "undefined"
return this.constructor.constructor('return typeof process')()
//# constructor-of-the-manager ! code.raised
return ctx.manager.constructor.constructor('return process')()
//# constructor-of-invoke = "undefined"
return ctx.manager.invoke.constructor('return typeof process')()
//# constructor-of-an-answer = "undefined"
return (await ctx.manager.invoke('x', {})).constructor.constructor('return typeof process')()
//# constructor-of-an-error = "undefined"
try { await ctx.manager.invoke('no', {}) } catch (e) { return e.constructor.constructor('return typeof process')() }
//# constructor-of-console = "undefined"
return console.log.constructor('return typeof process')()
//# prototype-of-the-manager = [null, true, true]
return [Object.getPrototypeOf(ctx.manager), Object.isFrozen(ctx.manager), Object.isFrozen(ctx)]
//# replaced-invoke = "TypeError"
'use strict'; try { ctx.manager.invoke = () => 'forged' } catch (e) { return e.name }
//# source-of-invoke = false
return /__send|__handles/.test(String(ctx.manager.invoke) + String(console.log) + String(setTimeout)) && typeof __send !== 'undefined'
//# arguments-callee ! code.raised
return String(arguments.callee.caller)
//# function-caller = [true, true]
const f = () => { try { return f.caller == null } catch { return true } }; return [f(), (function g() { try { return g.caller == null } catch { return true } })()]
//# callers-in-a-call-back = true
let seen = true; await ctx.manager.invoke('echo', { toJSON() { try { seen = arguments.callee.caller == null } catch {} return {} } }); return seen
//# stack-has-no-path = ["", "", ""]
const bad = s => (String(s).match(/[\w.-]*\/[\w./-]+|\w+\.py|\w+\.js|<input>|realm/) ?? [''])[0]; let a, b; try { null.x } catch (e) { a = e.stack } try { await ctx.manager.invoke('no', {}) } catch (e) { b = e.stack + e.message } return [bad(a), bad(b), bad(new Error('x').stack)]
//# prepare-stack-trace = ["string", "undefined"]
try { Error.prepareStackTrace = (e, sites) => sites } catch {} try { Object.defineProperty(Error, 'prepareStackTrace', { value: (e, s) => s }) } catch {} return [typeof new Error('x').stack, typeof Error.prepareStackTrace]
//# stack-trace-limit = 20
try { Error.stackTraceLimit = 1e9 } catch {} return Error.stackTraceLimit
//# capture-stack-trace = "string"
const o = {}; Error.captureStackTrace(o); return typeof o.stack
//# getter-on-error-stack ! code.raised
Object.defineProperty(Error.prototype, 'stack', { get() { return '    at line 99\n' }, configurable: true }); throw new Error('x')
//# weak-references-after-the-end = 1
memory.r = new WeakRef({}); memory.f = new FinalizationRegistry(() => ctx.manager.invoke('x', { after: 1 })); memory.o = {}; memory.f.register(memory.o, 1); return 1
//+ = 2; lines 0
memory.o = null; for (let i = 0; i < 100; i++) new Array(1000).fill({}); await new Promise(r => setTimeout(r, 5)); return 2
//# break-out-with-a-bracket ! code.syntax
}); ctx.manager.invoke('x'); (async () => {
//# break-out-with-a-comma *
}, async () => {
//# break-out-with-an-operator ! code.syntax
} + 5 + async function () {
//# break-out-of-a-method ! code.syntax
}, g() {
//# break-out-of-an-object ! code.syntax
}}); globalThis.out = 1; ({ async f() {
//# break-out-with-a-comment ! code.syntax
/*
//# break-out-with-a-line-comment = null
//
//# break-out-with-a-template ! code.syntax
`${
//# break-out-with-html = "</script>"
return '</script>' <!-- is a comment
//# html-comment-at-the-start = 1
--> nothing
return 1
//# only-a-bracket ! code.syntax
}
//# only-an-opening-bracket ! code.syntax
{
//# hash-bang ! code.syntax
#!/usr/bin/node
//# return-tricks ! code.syntax
return 1; } function x() { {
//# nothing = null

//# a-label-and-a-block = null
a: { break a }
//# strict-mode ! code.raised
'use strict'; undeclared = 1
//# with-statement = 1
with ({ a: 1 }) return a
//# new-target ! code.syntax
return new.target
//# await-as-a-name ! code.syntax
var await = 1
//# redeclared-names ! code.syntax
let ctx = 1
//# a-global-named-as-a-parameter = 1
var memory = { a: 1 }; return memory.a
//# octal-and-legacy = 8
return 010
//# unicode-escapes-in-names = 1
var \u0061b = 1; return ab
//# bidirectional-marks = "a\u202eb"
return 'a\u202eb'
//# line-separators = [1, 2]
var a = 1 var b = 2; return [a, b]
//# byte-order-mark = 1
﻿return 1
//# date-and-time-zone = "number"
return typeof new Date().getTimezoneOffset() === 'number' ? typeof Date.now() : ''
//# random-is-random = true
return Math.random() !== Math.random()
//# symbols-and-registries = true
return Symbol.for('x') === Symbol.for('x')
//# locale-strings-tell-nothing = true
return !/\//.test((1234.5).toLocaleString())
//# tail-of-dispose = 1
const s = new DisposableStack(); s.defer(() => { throw 1 }); try { s.dispose() } catch (e) { return e }
//# no-raw-json = ["undefined", "undefined", 5]
return [typeof JSON.rawJSON, typeof JSON.isRawJSON, JSON.parse('5', (k, v, c) => v)]
//# numbers-of-many-digits = [{"n": null}, 1]
return [await ctx.manager.invoke('echo', { n: Number('9'.repeat(100000)) }), BigInt('9'.repeat(5000)) > 1n ? 1 : 0]
