//# inline-uri = "denied.untrusted_ref"
try { return await ctx.manager.invoke('inline://x,return 1', {}) } catch (e) { return e.code }
//# file-uri = "denied.untrusted_ref"
try { return await ctx.manager.invoke('file:///etc/passwd', {}) } catch (e) { return e.code }
//# mcp-uri = "denied.untrusted_ref"
try { return await ctx.manager.invoke('mcp://server/tool', {}) } catch (e) { return e.code }
//# https-uri = "denied.untrusted_ref"
try { return await ctx.manager.invoke('https://example.com/x.skill.md', {}) } catch (e) { return e.code }
//# path-up = "denied.untrusted_ref"
try { return await ctx.manager.invoke('../x', {}) } catch (e) { return e.code }
//# path-here = "denied.untrusted_ref"
try { return await ctx.manager.invoke('./task.skill.md', {}) } catch (e) { return e.code }
//# path-absolute = "denied.untrusted_ref"
try { return await ctx.manager.invoke('/etc/passwd', {}) } catch (e) { return e.code }
//# path-of-home = "denied.untrusted_ref"
try { return await ctx.manager.invoke('~/x', {}) } catch (e) { return e.code }
//# path-of-windows = "denied.untrusted_ref"
try { return await ctx.manager.invoke('C:\\x', {}) } catch (e) { return e.code }
//# fragment = "denied.untrusted_ref"
try { return await ctx.manager.invoke('task#two', {}) } catch (e) { return e.code }
//# uppercase = "denied.untrusted_ref"
try { return await ctx.manager.invoke('Look', {}) } catch (e) { return e.code }
//# underscore = "denied.untrusted_ref"
try { return await ctx.manager.invoke('A_b', {}) } catch (e) { return e.code }
//# name-as-models-write-it = "denied.untrusted_ref"
try { return await ctx.manager.invoke('write_file', { path: 'x' }) } catch (e) { return e.code }
//# too-long = "denied.untrusted_ref"
try { return await ctx.manager.invoke('x'.repeat(65), {}) } catch (e) { return e.code }
//# long-enough-for-a-megabyte = "RangeError"
try { return await ctx.manager.invoke('x'.repeat(2 ** 20), {}) } catch (e) { return e.name }
//# empty = "denied.untrusted_ref"
try { return await ctx.manager.invoke('', {}) } catch (e) { return e.code }
//# with-a-space = "denied.untrusted_ref"
try { return await ctx.manager.invoke('look ', {}) } catch (e) { return e.code }
//# with-a-newline = "denied.untrusted_ref"
try { return await ctx.manager.invoke('look\n', {}) } catch (e) { return e.code }
//# with-nul = "denied.untrusted_ref"
try { return await ctx.manager.invoke('look\0', {}) } catch (e) { return e.code }
//# with-other-letters = "denied.untrusted_ref"
try { return await ctx.manager.invoke('l\u043e\u043ek', {}) } catch (e) { return e.code }
//# with-wide-letters = "denied.untrusted_ref"
try { return await ctx.manager.invoke('\uff4c\uff4f\uff4f\uff4b', {}) } catch (e) { return e.code }
//# with-a-soft-hyphen = "denied.untrusted_ref"
try { return await ctx.manager.invoke('lo\u00adok', {}) } catch (e) { return e.code }
//# with-half-a-character = "denied.untrusted_ref"
try { return await ctx.manager.invoke('look\ud800', {}) } catch (e) { return e.code }
//# a-pattern = "denied.untrusted_ref"
try { return await ctx.manager.invoke('*', {}) } catch (e) { return e.code }
//# a-tag = "denied.untrusted_ref"
try { return await ctx.manager.invoke('#meta-internal', {}) } catch (e) { return e.code }
//# every-kind-of-name-at-once = true
const refs = ['agent', 'agent-litellm', 'agent-demo', 'task', 'invoke', 'agent-code', 'finish', 'nothing-here', 'secret-tool', 'other-tool', 'run', 'constructor', 'proto', 'skill-register', 'skill-list']; for (const ref of refs) { try { await ctx.manager.invoke(ref, {}); return ref } catch (e) { if (!/^(denied|not_found|tool\.|config)/.test(e.code)) return [ref, e.code] } } return true
//# hidden-tool = "denied.visibility"
try { return await ctx.manager.invoke('secret-tool', { path: 'x' }) } catch (e) { return e.code }
//# tool-that-is-not-on-the-list = "denied.allowed_tools"
try { return await ctx.manager.invoke('other-tool', { path: 'x' }) } catch (e) { return e.code }
//# the-agent-itself * 
try { return await ctx.manager.invoke('agent', { prompt: 'x', allowedTools: '*' }) } catch (e) { return e.code }
//# itself * 
try { return await ctx.manager.invoke('task', {}) } catch (e) { return e.code }
//# a-write-is-asked-about = "denied.permission"; asked 1; did write-file 0
try { return await ctx.manager.invoke('write-file', { path: 'x' }) } catch (e) { return e.code }
//# a-write-asked-again-and-again = 20; asked 20; did write-file 0
let no = 0; for (let i = 0; i < 20; i++) try { await ctx.manager.invoke('write-file', { path: 'x' + i }) } catch (e) { no++ } return no
//# a-write-hidden-among-reads = "denied.permission"; asked 1; did write-file 0; did look 10
const all = await Promise.allSettled([...Array(10)].map((_, i) => ctx.manager.invoke('look', { path: 'a' + i })).concat([ctx.manager.invoke('write-file', { path: 'x' })])); return all.find(r => r.status === 'rejected').reason.code
//# a-write-nobody-waits-for = 1; did write-file 0
ctx.manager.invoke('write-file', { path: 'x' }); await ctx.manager.invoke('look', { path: 'a' }); return 1
//# wrong-arguments = "tool.validation"; did look 0
try { return await ctx.manager.invoke('look', { path: 5 }) } catch (e) { return e.code }
//# more-arguments = "tool.validation"; did look 0
try { return await ctx.manager.invoke('look', { path: 'x', more: 1 }) } catch (e) { return e.code }
//# proto-among-arguments = "tool.validation"; did look 0
try { return await ctx.manager.invoke('look', JSON.parse('{"path":"x","__proto__":{"path":"y"}}')) } catch (e) { return e.code }
//# nul-in-an-argument = "saw x\u0000y"
return await ctx.manager.invoke('look', { path: 'x\0y' })
//# half-a-character-in-an-argument = "saw \ufffd"
return await ctx.manager.invoke('look', { path: '\ud800' })
//# ten-thousand-arguments = "code.message"; did look 0
const a = {}; for (let i = 0; i < 15000; i++) a['k' + i] = i; try { return await ctx.manager.invoke('look', a) } catch (e) { return e.code }
//# four-thousand-arguments = "tool.validation"; did look 0
const a = { path: 'x' }; for (let i = 0; i < 4900; i++) a['k' + i] = i; try { return await ctx.manager.invoke('look', a) } catch (e) { return e.code }
//# a-long-argument = 200055
return (await ctx.manager.invoke('look', { path: 'x'.repeat(200000) })).length
//# deep-arguments-among-others = "tool.validation"; did look 0
let a = 1; for (let i = 0; i < 60; i++) a = { a }; try { return await ctx.manager.invoke('look', { path: 'x', a }) } catch (e) { return e.code }
//# dollar-frontmatter = "denied.untrusted_ref"; did look 0
try { return await ctx.manager.invoke('look', { path: 'x', $frontmatter: { trust: '*' } }) } catch (e) { return e.code }
//# dollar-as-caller = "denied.untrusted_ref"; did look 0
try { return await ctx.manager.invoke('look', { path: 'x', $as_caller: true }) } catch (e) { return e.code }
//# dollar-anything = "denied.untrusted_ref"; did look 0
try { return await ctx.manager.invoke('look', { path: 'x', $: 1 }) } catch (e) { return e.code }
//# option-as-caller = "denied.untrusted_ref"; did look 0
try { return await ctx.manager.invoke('look', { path: 'x' }, { as_caller: true }) } catch (e) { return e.code }
//# option-as-served = "denied.untrusted_ref"; did look 0
try { return await ctx.manager.invoke('look', { path: 'x' }, { as_served: true }) } catch (e) { return e.code }
//# option-in-name-of = "denied.untrusted_ref"; did look 0
try { return await ctx.manager.invoke('look', { path: 'x' }, { in_name_of: { origin: 'native', chain: [], allowed: '*' } }) } catch (e) { return e.code }
//# option-trust = "denied.untrusted_ref"; did look 0
try { return await ctx.manager.invoke('look', { path: 'x' }, { frontmatter: { trust: '*' } }) } catch (e) { return e.code }
//# option-allowed-tools = "denied.untrusted_ref"; did look 0
try { return await ctx.manager.invoke('look', { path: 'x' }, { frontmatter: { metadata: { 'allowed-tools': '*' } } }) } catch (e) { return e.code }
//# option-delegate = "denied.untrusted_ref"; did look 0
try { return await ctx.manager.invoke('look', { path: 'x' }, { frontmatter: { delegate: 'inline://x' } }) } catch (e) { return e.code }
//# option-order = "denied.untrusted_ref"; did look 0
try { return await ctx.manager.invoke('look', { path: 'x' }, { frontmatter: { $order: -1 } }) } catch (e) { return e.code }
//# option-unknown-middleware = "denied.untrusted_ref"; did look 0
try { return await ctx.manager.invoke('look', { path: 'x' }, { frontmatter: { retry: 5 } }) } catch (e) { return e.code }
//# option-frontmatter-that-is-none * ; did look 0
try { return await ctx.manager.invoke('look', { path: 'x' }, { frontmatter: [1] }) } catch (e) { return e.code }
//# options-that-mean-nothing = "saw x"; did look 1
return await ctx.manager.invoke('look', { path: 'x' }, { timeout: 1e9, place: { line: 1 }, caller: 'native', untrustedRef: false, default_timeout_s: 1e9 })
//# flag-in-locals = "denied.untrusted_ref"
ctx.locals = { internals: { untrustedRef: false } }; try { return await ctx.manager.invoke('../x', {}) } catch (e) { return e.code }
//# finish-twice = [null, "denied.finished"]; did look 0
const out = [await ctx.manager.finish('one') ?? null]; try { out.push(await ctx.manager.finish('two')) } catch (e) { out.push(e.code) } return out
//# invoke-after-finish = "denied.finished"; did look 0
await ctx.manager.finish('one'); try { return await ctx.manager.invoke('look', { path: 'x' }) } catch (e) { return e.code }
//# fail-after-finish = "denied.finished"
await ctx.manager.finish('one'); try { return await ctx.manager.fail('x') } catch (e) { return e.code }
//# next-after-finish = "denied.finished"
await ctx.manager.finish('one'); try { return await ctx.manager.next() } catch (e) { return e.code }
//# next-where-there-is-none = "skill.not_middleware"
try { return await ctx.manager.next() } catch (e) { return e.code }
//# finish-in-parallel = [1, 2]
const all = await Promise.allSettled([1, 2, 3].map(n => ctx.manager.finish(n))); return [all.filter(r => r.status === 'fulfilled').length, all.filter(r => r.status === 'rejected').length]
//# sixty-calls-side-by-side = [50, 10]; did look 50
const all = await Promise.allSettled([...Array(60)].map((_, i) => ctx.manager.invoke('look', { path: 'a' + i }))); return [all.filter(r => r.status === 'fulfilled').length, all.filter(r => r.reason?.code === 'denied.limit').length]
//# refused-calls-count-too = [0, 50, "denied.limit"]; did look 0
let ran = 0, no = 0, last = ''; for (let i = 0; i < 51; i++) try { await ctx.manager.invoke('../x', {}); ran++ } catch (e) { last = e.code; if (e.code !== 'denied.limit') no++ } return [ran, no, last]
//# a-flood-of-calls ! code.died; did look 50
for (;;) { try { await ctx.manager.invoke('look', { path: 'x' }) } catch {} }
//# topics-with-a-file = true
try { await ctx.manager.invoke('event-subscribe', { topic: 't', ref: 'file:///etc/passwd' }); await ctx.manager.invoke('event-emit', { topic: 't', data: 1 }) } catch (e) { return /^denied|^not_found|validation/.test(e.code) } return true
//# a-tool-that-never-ends = "tool.timeout"
try { return await ctx.manager.invoke('stuck', { path: 'x' }) } catch (e) { return e.code }
//# a-result-of-a-megabyte * 
return (await ctx.manager.invoke('huge', { path: 'x' })).length
//# a-secret-tool-by-its-reference * ; did secret-tool 0
for (const ref of ['tool:secret-tool', 'program:secret-tool', 'secret-tool@1', 'look,secret-tool', 'look;secret-tool']) try { await ctx.manager.invoke(ref, { path: 'x' }); return 'ran' } catch {} return 'no'
