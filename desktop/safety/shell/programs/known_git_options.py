"""Options of git's sub-commands that do no more than the sub-command's name says; as in ``known_option_tables``.

The first are git's own. ``@log`` stands for all that log and diff have in common. Letters of most are in
``syntax/getopt.py``.
"""

KNOWN_GIT = r"""
: P|cC|| no-pager no-replace-objects literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs
  no-optional-locks html-path man-path info-path
@log: ||| abbrev abbrev-commit after all all-match alternate-refs ancestry-path anchored author author-date-order
  basic-regexp before binary bisect boundary branches check cherry cherry-mark cherry-pick children clear-decorations
  color color-moved color-moved-ws color-words combined-all-paths committer compact-summary cumulative date date-order
  decorate decorate-refs decorate-refs-exclude dense diff-algorithm diff-filter diff-merges dirstat-by-file do-walk
  dst-prefix encoding exclude exclude-first-parent-only exclude-hidden expand-tabs extended-regexp find-copies-harder
  find-object first-parent fixed-strings follow format full-diff full-history full-index function-context glob graph
  grep grep-reflog histogram ignore-all-space ignore-blank-lines ignore-cr-at-eol ignore-missing ignore-space-at-eol
  ignore-space-change ignore-submodules indent-heuristic inter-hunk-context invert-grep irreversible-delete
  ita-invisible-in-index left-only left-right line-prefix log-size max-parents merge merges min-parents minimal
  name-only name-status no-abbrev-commit no-color no-color-moved no-color-moved-ws no-decorate no-diff-merges
  no-expand-tabs no-ext-diff no-indent-heuristic no-max-parents no-merges no-min-parents no-notes no-patch no-prefix
  no-relative no-renames no-textconv no-walk not notes numstat oneline output-indicator-context output-indicator-new
  output-indicator-old parents patch-with-raw patch-with-stat patience perl-regexp pickaxe-all pickaxe-regex pretty
  raw reflog regexp-ignore-case relative relative-date remotes remove-empty reverse right-only rotate-to shortstat
  show-linear-break show-notes show-pulls show-signature simplify-by-decoration simplify-merges since since-as-filter
  single-worktree skip skip-to source sparse src-prefix stat stdin submodule summary tags text topo-order until
  walk-reflogs word-diff word-diff-regex ws-error-highlight unified stat-width stat-count dirstat patch max-count
add: ||| all chmod dry-run force ignore-errors ignore-missing ignore-removal intent-to-add interactive patch
  pathspec-file-nul pathspec-from-file refresh renormalize sparse update verbose
am: cikmqrsu|Cp|S| 3way abort allow-empty committer-date-is-author-date continue empty exclude gpg-sign ignore-date
  ignore-space-change ignore-whitespace include interactive keep keep-cr keep-non-patch message-id no-keep-cr
  patch-format quiet quit quoted-cr reject rerere-autoupdate resolved scissors show-current-patch signoff skip utf8
  whitespace
annotate: bceflnpstw|LS|CM| abbrev color-by-age color-lines contents ignore-rev ignore-revs-file incremental
  line-porcelain minimal porcelain progress root score-debug show-email show-name show-number show-stats
apply: ||| 3way allow-empty allow-overlap apply cached check exclude ignore-space-change ignore-whitespace
  inaccurate-eof include index intent-to-add no-add numstat quiet recount reject reverse stat summary unidiff-zero
  verbose whitespace
archive: ||| add-virtual-file format list prefix verbose worktree-attributes
bisect: ||| term-old term-new no-checkout first-parent
blame: ||| abbrev color-by-age color-lines contents ignore-rev ignore-revs-file incremental line-porcelain minimal
  porcelain progress root score-debug show-email show-name show-number show-stats
branch: ||| abbrev all color column contains copy create-reflog delete force format ignore-case list merged move
  no-contains no-merged points-at quiet recurse-submodules remotes set-upstream-to show-current sort track
  unset-upstream verbose
cat-file: epstz||| allow-unknown-type batch batch-all-objects batch-check buffer follow-symlinks mailmap path
  unordered use-mailmap
check-ignore: nqvz||| no-index non-matching quiet stdin verbose
checkout: ||| conflict detach force guess ignore-other-worktrees ignore-skip-worktree-bits merge orphan ours overlay
  overwrite-ignore patch pathspec-file-nul pathspec-from-file progress quiet recurse-submodules theirs track
cherry: v||| abbrev verbose
cherry-pick: ||| abort allow-empty allow-empty-message cleanup continue ff gpg-sign keep-redundant-commits mainline
  no-commit quit rerere-autoupdate signoff skip strategy edit
clean: Xdfinqx|e|| dry-run exclude force interactive quiet
clone: ||| also-filter-submodules bare branch depth dissociate filter ipv4 ipv6 jobs local no-checkout no-hardlinks
  no-tags origin progress quiet recurse-submodules recursive reference reference-if-able reject-shallow server-option
  shallow-exclude shallow-since shallow-submodules shared single-branch sparse verbose
commit: ||| ahead-behind all amend author branch cleanup date dry-run file fixup gpg-sign include interactive long
  message no-post-rewrite no-verify null only patch pathspec-file-nul pathspec-from-file porcelain quiet
  reedit-message reset-author reuse-message short signoff squash status trailer untracked-files verbose edit
config: lz|t|| list get get-all get-regexp get-urlmatch local show-origin show-scope name-only null type bool int
  bool-or-int bool-or-str path default all regexp value fixed-value includes global system worktree
count-objects: Hv||| human-readable verbose
describe: ||| abbrev all always broken candidates contains debug dirty exact-match exclude first-parent long match
  tags
diff: ||| @log abbrev find-copies-harder full-index name-only name-status numstat patch-with-raw patch-with-stat
  pickaxe-all stat cached staged no-index merge-base exit-code quiet ours theirs base no-ext-diff
diff-index,diff-files: BCMRapuz|OSl|| @log abbrev find-copies-harder full-index name-only name-status numstat
  patch-with-raw patch-with-stat pickaxe-all stat
diff-tree: BCMRacpruz|OSl|| @log abbrev cc combined-all-paths find-copies-harder full-index name-only name-status
  numstat patch-with-raw patch-with-stat pickaxe-all root stat
fast-export: ||| anonymize anonymize-map fake-missing-tagger full-tree mark-tags no-data progress reencode
  reference-excluded-parents refspec show-original-ids signed-tags tag-of-filtered-object use-done-feature
fetch: ||| all append atomic auto-gc auto-maintenance deepen depth dry-run filter force ipv4 ipv6 jobs keep multiple
  negotiate-only negotiation-tip prefetch progress prune prune-tags quiet recurse-submodules refetch refmap
  server-option set-upstream shallow-exclude shallow-since show-forced-updates stdin tags unshallow update-head-ok
  update-shallow verbose write-commit-graph write-fetch-head
for-each-ref: ps||| color contains count format ignore-case merged no-contains no-merged perl points-at python shell
  sort tcl
format-patch: ||| add-header attach base cc cover-from-description cover-letter creation-factor filename-max-length
  from ignore-if-in-upstream in-reply-to inline interdiff keep-subject no-binary no-numbered no-stat numbered
  numbered-files progress quiet range-diff reroll-count rfc signature signoff start-number stdout subject-prefix
  suffix thread to zero-commit
fsck: v||| cache connectivity-only dangling full name-objects progress reflogs root strict tags unreachable verbose
gc: q||| aggressive auto cruft force keep-largest-pack prune quiet
grep: ||| after-context all-match and basic-regexp before-context break cached color column context count
  exclude-standard extended-regexp files-with-matches files-without-match fixed-strings full-name function-context
  heading ignore-case invert-match line-number max-count max-depth name-only no-index not null only-matching or
  perl-regexp quiet recurse-submodules recursive show-function text threads untracked word-regexp
init: ||| bare initial-branch object-format quiet shared
log,show: ||| @log clear-decorations decorate decorate-refs decorate-refs-exclude mailmap quiet source use-mailmap
ls-files: cdfikmostuvz|Xx|| abbrev cached debug deduplicate deleted empty-directory eol error-unmatch exclude
  exclude-from exclude-per-directory exclude-standard format full-name ignored killed modified others
  recurse-submodules resolve-undo sparse stage unmerged with-tree
ls-remote: ||| exit-code get-url heads quiet refs server-option sort symref tags
ls-tree: dlrtz||| abbrev format full-name full-tree long name-only name-status object-only
merge: ||| abort allow-unrelated-histories autostash cleanup commit continue ff ff-only file gpg-sign into-name log
  message no-verify overwrite-ignore progress quiet quit rerere-autoupdate signoff squash stat strategy summary
  verbose verify-signatures edit
merge-base: a||| all fork-point independent is-ancestor octopus
mv: fknv||| dry-run force sparse verbose
name-rev: ||| all always annotate-stdin exclude name-only refs stdin tags undefined
notes: f|mFcC|| ref force
pull: ||| all allow-unrelated-histories append autostash cleanup commit deepen depth dry-run ff ff-only force gpg-sign
  ipv4 ipv6 jobs keep log negotiation-tip progress prune quiet rebase recurse-submodules refmap server-option
  set-upstream shallow-exclude shallow-since show-forced-updates signoff squash stat strategy tags unshallow
  update-shallow verbose verify verify-signatures edit
push: ||| all atomic delete dry-run follow-tags force force-if-includes force-with-lease ipv4 ipv6 no-verify porcelain
  progress prune push-option quiet recurse-submodules repo set-upstream signed tags thin verbose mirror
range-diff: DRWabpsuwz|GIOSl|BCMUX| @log abbrev anchored binary break-rewrites check color color-moved color-moved-ws
  color-words compact-summary creation-factor cumulative diff-algorithm diff-filter dirstat dirstat-by-file dst-prefix
  exit-code find-copies find-copies-harder find-object find-renames follow full-index function-context histogram
  ignore-all-space ignore-blank-lines ignore-cr-at-eol ignore-matching-lines ignore-space-at-eol ignore-space-change
  ignore-submodules indent-heuristic inter-hunk-context irreversible-delete ita-invisible-in-index
  ita-visible-in-index left-only line-prefix minimal name-only name-status no-dual-color no-patch no-prefix no-renames
  notes numstat output-indicator-context output-indicator-new output-indicator-old patch patch-with-raw
  patch-with-stat patience pickaxe-all pickaxe-regex quiet raw relative rename-empty right-only rotate-to shortstat
  skip-to src-prefix stat stat-count stat-graph-width stat-name-width stat-width submodule summary text unified
  word-diff word-diff-regex ws-error-highlight
rebase: ||| abort apply autosquash autostash committer-date-is-author-date continue edit-todo empty force-rebase
  fork-point gpg-sign ignore-whitespace interactive keep-base merge no-ff no-stat no-verify onto quiet quit
  reapply-cherry-picks rebase-merges rerere-autoupdate reschedule-failed-exec reset-author-date root
  show-current-patch signoff skip strategy update-refs verbose whitespace
reflog: ||| @log
remote: vnfp|tm|| verbose track fetch tags push add delete all dry-run prune
reset: Npq||| hard intent-to-add keep merge mixed no-refresh patch pathspec-file-nul pathspec-from-file quiet
  recurse-submodules soft
restore: SWmpq|s|| conflict ignore-skip-worktree-bits ignore-unmerged merge ours overlay patch pathspec-file-nul
  pathspec-from-file progress quiet recurse-submodules source staged theirs worktree
rev-list: ||| @log abbrev abbrev-commit all bisect bisect-all bisect-vars branches children count date-order
  disk-usage exclude-hidden header left-right max-age max-count max-parents min-age min-parents no-abbrev
  no-max-parents no-merges no-min-parents object-names objects objects-edge parents pretty quiet remotes remove-empty
  reverse sparse stdin tags topo-order unpacked
rev-parse: ||| abbrev abbrev-ref all short show-toplevel git-dir is-inside-work-tree is-inside-git-dir verify quiet
  symbolic show-prefix show-cdup absolute-git-dir git-common-dir branches tags remotes symbolic-full-name
  is-bare-repository show-superproject-working-tree git-path show-object-format is-shallow-repository sq default
revert: ||| abort cleanup continue gpg-sign mainline no-commit quit reference rerere-autoupdate signoff skip strategy
  edit
rm: fnqr||| cached dry-run force ignore-unmatch pathspec-file-nul pathspec-from-file quiet sparse
shortlog: ||| @log committer email group numbered summary
show-ref: dq||s| abbrev dereference exclude-existing hash head heads quiet tags verify
sparse-checkout: ||| cone no-cone sparse-index
stash: ||| patch keep-index quiet include-untracked all message staged index only-untracked stat @log
status: ||| ahead-behind branch column find-renames ignore-submodules ignored long no-renames null porcelain short
  show-stash untracked-files verbose
submodule: ||| quiet init recursive force checkout rebase merge depth branch name cached summary progress
  recommend-shallow reference
switch: ||| conflict create detach discard-changes force force-create guess ignore-other-worktrees merge orphan
  overwrite-ignore progress quiet recurse-submodules track
symbolic-ref: dq|m|| delete quiet recurse short
tag: ||| annotate cleanup color column contains create-reflog delete file force format ignore-case list local-user
  merged message no-contains no-merged points-at sign sort verify
version: ||| build-options
whatchanged: q|L|| @log clear-decorations decorate decorate-refs decorate-refs-exclude mailmap quiet source
  use-mailmap
worktree: fdvnqz|bB|| force detach checkout lock reason porcelain expire verbose dry-run track guess-remote
"""
