"""Options of well-known programs that do no more than the program's name says, as their manuals have them.

Each entry: the programs, the letters that take no value, that take one, that may have one glued to them, then names:
with two dashes, or as it is written here with one. A word that is in no table stands for anything (see
``options``); so leaving out is safe, and whatever starts a program, writes a file that it names, or takes orders
from one is left out.
"""

KNOWN_OPTIONS = r"""
ack: isSwvlLcnhQ|ABCm|| nocolor color type ignore-dir nogroup noheading nobreak
ag: isSwvlLcnhauQ|ABCmG|| nocolor color hidden ignore ignore-dir literal stats nogroup noheading nobreak numbers
arch,sleep,groups,yes,factor,tsort,zcat,bzcat,xzcat,nohup: |||
awk: ||| field-separator assign posix re-interval sandbox traditional
b2sum: bctwz|l|| binary check ignore-missing length quiet status strict tag text warn zero
base32,base64: di|w|| decode ignore-garbage wrap
basename: az|s|| multiple suffix zero
bat,batcat: ApnsSfu|lHrm|| language number style plain show-all wrap tabs color theme line-range highlight-line
  decorations terminal-width squeeze-blank list-themes list-languages no-paging paging
bc: hilqsw||| mathlib quiet standard warn interactive
cal: 13jmsy|ABnd||
cargo: vqr|pjF|| color explain frozen list locked offline quiet verbose release all workspace package features
  all-features no-default-features target jobs profile bin bins lib test tests example examples bench benches
  all-targets message-format no-run no-fail-fast doc keep-going exclude check nocapture
cat: AETbenstuv||| number number-nonblank show-all show-ends show-nonprinting show-tabs squeeze-blank
chgrp: HLPRcfhv||| changes dereference no-dereference no-preserve-root preserve-root quiet recursive reference silent
  verbose
chmod: RcfvrwxXst||| changes no-preserve-root preserve-root quiet recursive reference silent verbose
choom: |np|| adjust
chown: HLPRcfhv||| changes dereference from no-dereference no-preserve-root preserve-root quiet recursive reference
  silent verbose
chrt: Rabdfimorv|DPT|| all-tasks batch deadline fifo idle max other reset-on-fork rr sched-deadline sched-period
  sched-runtime verbose
cksum: cwz|al|| algorithm check debug ignore-missing length quiet status strict tag untagged warn zero
clang-format: n||| dry-run verbose Werror lines offset length sort-includes fallback-style assume-filename
  output-replacements-xml style -style -lines -offset -length -verbose -n dump-config
cmp: blsv|in|| bytes ignore-initial print-bytes quiet silent verbose
column: JLVdehtx|EHNORTWcilnoprs|| fillrows json keep-empty-lines output-separator output-width separator table
  table-columns table-columns-limit table-header-repeat table-hide table-name table-noextreme table-noheadings
  table-order table-right table-truncate table-wrap tree tree-id tree-parent
comm: z||| check-order nocheck-order output-delimiter total zero-terminated
command: pvV|||
cp: HLPRTZabdfilnprsuvx|St|| archive attributes-only backup context copy-contents dereference force interactive link
  no-clobber no-dereference no-preserve no-target-directory one-file-system parents preserve recursive reflink
  remove-destination sparse strip-trailing-slashes suffix symbolic-link target-directory update verbose
csplit: ksz|bfn|| digits elide-empty-files keep-files prefix quiet silent suffix-format suppress-matched
curl: ||| anyauth basic cacert capath compressed connect-timeout continue-at create-dirs digest disable fail
  fail-early fail-with-body get globoff head header http0.9 http1.0 http1.1 http2 http3 include insecure interface
  ipv4 ipv6 keepalive-time limit-rate location max-filesize max-redirs max-time negotiate no-buffer no-keepalive
  no-progress-meter no-sessionid noproxy parallel path-as-is progress-bar proto proto-default proto-redir range raw
  referer remote-time request-target retry retry-all-errors retry-connrefused retry-delay retry-max-time
  show-error silent speed-limit speed-time ssl ssl-reqd tcp-nodelay tls-max tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 url
  user-agent verbose write-out
cut: Mnsz|bcdf|| bytes characters complement delimiter fields only-delimited output-delimiter zero-terminated
date: Ru|dfrs|I| date debug file iso-8601 reference resolution rfc-3339 rfc-email universal utc
delta: ns|w|| side-by-side line-numbers dark light color-only no-gitconfig width syntax-theme list-languages
  list-syntax-themes true-color wrap-max-lines hunk-header-style file-style
df: HPTahiklv|Btx|| all block-size exclude-type human-readable inodes local no-sync output portability print-type si
  sync total type
diff: BENTZabdeinpqrstvwycu|DFISWXxUC|| brief color context ed exclude exclude-from expand-tabs from-file
  horizon-lines ifdef ignore-all-space ignore-blank-lines ignore-case ignore-file-name-case ignore-matching-lines
  ignore-space-change ignore-tab-expansion ignore-trailing-space initial-tab label left-column line-format minimal
  new-file no-dereference no-ignore-file-name-case normal palette rcs recursive report-identical-files show-c-function
  show-function-line side-by-side speed-large-files starting-file strip-trailing-cr suppress-blank-empty
  suppress-common-lines tabsize text to-file unidirectional-new-file unified width
diff3: AETXaeimvx|L|| easy-only ed initial-tab label merge overlap-only show-all show-overlap strip-trailing-cr text
dirname: z||| zero
dmesg: HJPSTdekrtuwx|lfs|L| buffer-size color ctime decode facility follow follow-new force-prefix human json kernel
  level noescape nopager notime raw reltime show-delta since syslog time-format until userspace
du: DHLPSabchklmsx|BXdt|| all apparent-size block-size bytes count-links dereference dereference-args exclude
  exclude-from human-readable inodes max-depth no-dereference null one-file-system separate-dirs si summarize
  threshold time time-style total
env: 0iv|Cu|| null ignore-environment unset chdir debug block-signal default-signal ignore-signal list-signal-handling
eslint: ||| ext quiet max-warnings no-inline-config color no-color no-error-on-unmatched-pattern
  report-unused-disable-directives ignore-pattern no-ignore print-config env global debug
exec: cl|a||
exiftool: abGghjnqrsSuUv||| -json -csv -a -G1 -s3
expand: i|t|| initial tabs
fd: ||| hidden no-ignore unrestricted case-sensitive ignore-case glob fixed-strings absolute-path follow full-path
  print0 max-depth min-depth exact-depth exclude type extension size changed-within changed-before max-results quiet
  show-errors color no-ignore-vcs and strip-cwd-prefix one-file-system prune
file: 0LNPbdhiknprsv|Fe|| apple brief checking-printout debug dereference exclude exclude-quiet extension keep-going
  list mime mime-encoding mime-type no-buffer no-dereference no-pad preserve-date print0 raw separator
find: HLPX||| -amin -anewer -atime -cmin -cnewer -ctime -daystart -depth -empty -executable -false -follow -fstype
  -gid -group -ignore_readdir_race -ilname -iname -inum -ipath -iregex -iwholename -links -lname -ls -maxdepth
  -mindepth -mmin -mount -mtime -name -newer -newermt -newerat -newerct -newermm -noleaf -not -nogroup -nouser
  -noignore_readdir_race -path -perm -print -print0 -printf -prune -quit -readable -regex -regextype -samefile -size
  -exec -execdir -ok -okdir -delete -true -type -uid -used -user -warn -nowarn -wholename -writable -xdev -xtype -and
  -or -a -o
findmnt: ACDJPRUVabcefiklmnrsuvxy|MNOSTdot|| all ascii bytes canonicalize df direction evaluate first-only fstab
  invert json kernel list mountpoint mtab nocanonicalize nofsroot noheadings notruncate options output output-all
  pairs pseudo raw real shadowed shell source submounts target tree types uniq verbose verify vfs-all
flock: Fnosux|Ew|| close conflict-exit-code exclusive no-fork nonblock shared timeout unlock verbose
fmt: cstu|gpw|| crown-margin goal prefix split-only tagged-paragraph uniform-spacing width
fold: bs|w|| bytes spaces width
free: Vbghklmtvw|cs|| bytes committed count gibi giga human kibi kilo lohi mebi mega pebi peta seconds si tebi tera
  total wide
gcc,g++,cc,c++,clang,clang++: cgSEvw|IDUlLoOx|| -Wall -Wextra -Werror -Wpedantic -pedantic -ansi -pthread -pipe
  -shared -static -fPIC -fpic -fPIE -pie -std -g0 -g1 -g2 -g3 -ggdb -MD -MMD -MP -MM -M -m32 -m64 -march -mtune
getent: i|s|| no-addrconfig no-idn service usage
gh: dcv|LRsSAalBHqtbue|| json jq limit state author assignee label repo search head base title body draft comments log
  log-failed paginate name-only patch exit-status interval watch job event branch workflow user commit verbose
go: ||| -v -x -n -a -race -msan -short -run -skip -count -timeout -bench -benchmem -benchtime -cover -covermode -json
  -p -tags -parallel -failfast -list -cpu -shuffle -u -m -f -test
grep,egrep,fgrep: EFGHILPRTUZabchilnoqrsvwxyzV|ABCDdefm|| after-context basic-regexp before-context binary
  binary-files byte-offset color colour context count dereference-recursive devices directories exclude exclude-dir
  exclude-from extended-regexp file files-with-matches files-without-match fixed-strings group-separator ignore-case
  include initial-tab invert-match label line-buffered line-number line-regexp max-count no-filename
  no-group-separator no-ignore-case no-messages null null-data only-matching perl-regexp quiet recursive regexp silent
  text with-filename word-regexp
gzip,gunzip: cdfklnqrtvN|S|| best decompress fast force keep license list name no-name quiet recursive rsyncable
  stdout suffix synchronous test verbose
head: qvz|cn|| bytes lines quiet silent verbose zero-terminated
hexdump: CVbcdovx|efns|| canonical color format format-file length no-squeezing one-byte-char one-byte-octal skip
  two-bytes-decimal two-bytes-hex two-bytes-octal
hostname: AIadfisy||| alias all-fqdns all-ip-addresses domain fqdn ip-address long nis short yp
iconv: cls|fot|| from-code to-code list silent verbose
id: GZagnruz||| context group groups name real user zero
install: CDTZbcdpv|Sgmot|| backup compare context directory group mode no-target-directory owner preserve-context
  preserve-timestamps suffix target-directory verbose
ionice: t|cnPpu|| class classdata ignore pgid pid uid
join: iz|12aejotv|| check-order header ignore-case nocheck-order zero-terminated
journalctl: aefklmqrx|DFMNSTUcgnoptu|b| after-cursor all boot case catalog cursor dmesg facility field fields follow
  full grep header identifier lines list-boots local merge no-full no-hostname no-pager no-tail output output-fields
  pager-end priority quiet reverse show-cursor since system truncate-newline unit until user user-unit utc
jq: ||| arg argjson args jsonargs rawfile slurpfile tab compact-output null-input exit-status slurp raw-output
  raw-input color-output monochrome-output ascii-output sort-keys indent join-output stream seq unbuffered
less: ||| quit-if-one-screen raw-control-chars no-init chop-long-lines line-numbers ignore-case squeeze-blank-lines
ln: LPTbfinrsv|St|| backup directory force interactive logical no-dereference no-target-directory physical relative
  suffix symbolic target-directory verbose
locale: ackm||| all-locales category-name charmaps keyword-name usage verbose
look: Vadfh|t|| alphanum alternative ignore-case terminate
ls,dir,vdir: ABCDGHLNQRSUXZabcdfghiklmnoqrstuvxp|ITw|F| all almost-all author block-size classify color context
  dereference dereference-command-line dereference-command-line-symlink-to-dir directory dired escape file-type format
  full-time group-directories-first hide hide-control-chars human-readable hyperlink ignore ignore-backups
  indicator-style inode kibibytes literal no-group numeric-uid-gid quote-name quoting-style recursive reverse
  show-control-chars si size sort tabsize time time-style width zero
lsblk: ADJMOPSVabdfhilmnprstyz|EIeowx|T| all ascii bytes dedup discard exclude fs include inverse json list merge
  nodeps noempty noheadings output output-all pairs paths perms raw scsi shell sort sysroot topology tree width zoned
lscpu: BJVabchxy|s|Cep| all bytes caches extended hex json offline online output-all parse physical sysroot
lsof: abChlnNOPRtUwX|cdgpusi|F|
ltrace: fiStrcCbLV|eslnaAF||
make: ||| always-make assume-new assume-old check-symlink-times debug dry-run ignore-errors jobs just-print keep-going
  load-average max-load new-file no-builtin-rules no-builtin-variables no-keep-going no-print-directory no-silent
  old-file output-sync print-data-base print-directory question quiet recon silent stop touch trace
  warn-undefined-variables what-if
man: ||| all where path apropos whatis sections locale default
md5sum,sha256sum,sha1sum,sha224sum,sha384sum,sha512sum: bctwz||| binary check ignore-missing quiet status strict tag
  text warn zero
mkdir: Zpv|m|| context mode parents verbose
mktemp: dqtu||p| directory dry-run quiet suffix tmpdir
more: Vcdefhlpsu|n|| clean-print exit-on-eof lines logical no-pause plain print-over silent squeeze
mv: TZbfinuv|St|| backup context force interactive no-clobber no-target-directory strip-trailing-slashes suffix
  target-directory update verbose
mypy: |mp|| strict ignore-missing-imports no-incremental show-error-codes pretty show-column-numbers
  show-error-context no-error-summary warn-unused-ignores warn-return-any disallow-untyped-defs check-untyped-defs
  follow-imports python-version platform explicit-package-bases namespace-packages exclude enable-error-code
  disable-error-code no-color-output module package no-implicit-optional
mysql,mariadb: BEHNXstvwrfC|ehuPDp|| execute host user port database batch silent table html xml vertical
  skip-column-names raw force compress
nc,ncat,netcat: vzn46u|w||
nice: |n|| adjustment
nl: p|bdfhilnsvw|| body-numbering footer-numbering header-numbering join-blank-lines line-increment no-renumber
  number-format number-separator number-width section-delimiter starting-line-number
nm: ABDPSUWXaegjlnopru|ft|C| debug-syms defined-only demangle dynamic extern-only format ifunc-chars just-symbols
  line-numbers no-demangle no-recurse-limit no-sort no-weak numeric-sort portability print-armap print-file-name
  print-size quiet radix recurse-limit reverse-sort size-sort special-syms synthetic target undefined-only unicode
  with-symbol-versions
npm,npx,pnpm,yarn,bun: DEOPSlqsdar|wF|| silent quiet verbose json long parseable depth all omit include workspace
  workspaces if-present ignore-scripts no-audit no-fund audit fund production dry-run loglevel color no-color progress
  no-progress save save-dev save-exact save-optional save-peer no-save frozen-lockfile prefer-offline offline
  legacy-peer-deps immutable recursive filter dev prod
nproc: ||| all ignore
numfmt: Mz|d|| debug delimiter field format from from-unit grouping header invalid padding round suffix to to-unit
  zero-terminated
objdump: DFGHLRSTadefghilprstvwxz|Mbjm|CU| adjust-vma all-headers architecture archive-headers ctf ctf-parent
  debugging debugging-tags demangle disassemble disassemble-all disassemble-zeroes disassembler-color
  disassembler-options dwarf-check dwarf-depth dwarf-start dynamic-reloc dynamic-syms endian file-headers file-offsets
  file-start-context full-contents include info inlines insn-width line-numbers no-addresses no-recurse-limit prefix
  prefix-addresses prefix-strip private-headers process-links recurse-limit reloc section sframe show-all-symbols
  source source-comment special-syms stabs start-address stop-address syms target unicode visualize-jumps wide
od: abcdfilosvx|ANjt|Sw| address-radix endian format output-duplicates read-bytes skip-bytes strings traditional width
openssl: ||| -in -inform -outform -noout -text -subject -issuer -dates -enddate -startdate -fingerprint -serial
  -modulus -connect -servername -showcerts -sha256 -sha1 -md5 -sha512 -hex -hash -purpose -pubin -pubkey -check -a -d
  -base64
pandoc: sNp|tf|| to from standalone toc table-of-contents wrap columns number-sections metadata read write
  list-input-formats list-output-formats shift-heading-level-by strip-comments mathjax mathml ascii reference-links
paste: sz|d|| delimiters serial zero-terminated
patch: ENRTZbcefnlstuv|DFVYgpzB|| backup-if-mismatch binary dry-run merge no-backup-if-mismatch posix quoting-style
  read-only reject-format verbose forward reverse strip fuzz silent force batch
pgrep: Lacfilnovwx|FGPUdgrstu|| cgroup count delimiter euid exact full group ignore-ancestors ignore-case inverse
  lightweight list-full list-name logpidfile newest ns nslist older oldest parent pgroup pidfile runstates session
  terminal uid
pidof: csx|o||
pip,pip3: vqoulUf||| quiet verbose no-color no-input disable-pip-version-check outdated uptodate local user
  not-required exclude-editable include-editable pre format timeout retries exclude isolated require-virtualenv
  no-cache-dir no-deps upgrade files
pr: FJTacdfmrtv|CDNWhlow|Seins| across columns date-format double-space expand-tabs first-line-number form-feed header
  indent join-lines length merge no-file-warnings number-lines omit-header omit-pagination output-tabs page-width
  sep-string separator show-control-chars show-nonprinting width
prettier: lc||| check list-different log-level loglevel no-color color stdin-filepath no-config no-editorconfig
  tab-width print-width single-quote no-semi trailing-comma parser ignore-unknown use-tabs
printenv: ||| null
prlimit: cdefilmnqrstuvxy||| as core cpu data fsize locks memlock msgqueue nice nofile noheadings nproc raw rss rtprio
  rttime sigpending stack verbose
ps: AadefFHjlLMNTwxyZc|gGoOpstuUCk|| forest headers sort format pid ppid user cols width no-headers deselect tty sid
  quick-pid
psql: ||| command csv dbname echo-all echo-errors echo-queries expanded field-separator host html list no-align
  no-password no-psqlrc no-readline password port quiet record-separator single-transaction table-attr tuples-only
  username
ptx: ARfrtOT|FMSWbgiow|| auto-reference break-file flag-truncation format gap-size ignore-case ignore-file macro-name
  only-file references right-side-refs sentence-regexp typeset-mode width word-regexp
pytest,py.test: ||| maxfail lf last-failed ff failed-first nf new-first sw stepwise stepwise-skip tb color verbosity
  quiet verbose exitfirst collect-only co no-header no-summary durations durations-min strict-markers strict-config
  showlocals capture no-cov cov runxfail keep-duplicates ignore deselect ignore-glob full-trace setup-show setup-only
  setup-plan fixtures markers dist numprocesses
readelf: ADILPSWadeghlnrstuVc|xpR|w| all arch-specific archive-index ctf ctf-parent ctf-strings ctf-symbols debug-dump
  decompress demangle dwarf-depth dwarf-start dyn-syms dynamic file-header headers hex-dump histogram lint lto-syms
  no-demangle no-recurse-limit notes process-links program-headers recurse-limit relocated-dump relocs section-details
  section-groups section-headers sections segments sframe silent-truncation string-dump sym-base symbols syms unicode
  unwind use-dynamic version-info wide
readlink: efmnqsvz||| canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero
realpath: LPemqsz||| canonicalize-existing canonicalize-missing logical no-symlinks physical quiet relative-base
  relative-to strip zero
rev: Vh|||
rg: ||| no-heading heading line-number no-line-number ignore-case smart-case case-sensitive fixed-strings word-regexp
  line-regexp files files-with-matches files-without-match count count-matches glob iglob type type-not type-list
  hidden no-ignore no-ignore-vcs max-count max-depth context before-context after-context only-matching replace json
  sort sortr stats color colors multiline multiline-dotall pcre2 engine text null invert-match regexp file follow
  vimgrep trim column with-filename no-filename quiet passthru encoding crlf threads unrestricted binary no-messages
  max-columns max-filesize one-file-system no-config
rmdir: pv||| ignore-fail-on-non-empty parents verbose
rsync: ||| archive verbose quiet checksum recursive relative links copy-links perms executability chmod owner group
  times omit-dir-times dry-run whole-file one-file-system existing ignore-existing max-size min-size partial compress
  exclude include exclude-from include-from stats human-readable progress itemize-changes bwlimit list-only update
  inplace append size-only numeric-ids delete delete-after delete-before delete-during delete-excluded hard-links acls
  xattrs sparse timeout contimeout filter cvs-exclude prune-empty-dirs safe-links copy-dest link-dest compare-dest
  info port ipv4 ipv6 backup suffix rsh
scp: rpqCv46|iPl||
sdiff: BEHWZabdilstv|Iw|| expand-tabs ignore-all-space ignore-blank-lines ignore-case ignore-matching-lines
  ignore-space-change ignore-tab-expansion ignore-trailing-space left-column minimal speed-large-files
  strip-trailing-cr suppress-common-lines tabsize text width
sed: ||| quiet silent expression line-length null-data posix regexp-extended separate sandbox unbuffered
  follow-symlinks debug
seq: w|fs|| equal-width format separator
setarch: 3BFIRSTXZv|L|| 32bit 3gb 4gb addr-compat-layout addr-no-randomize fdpic-funcptrs list mmap-page-zero
  read-implies-exec short-inode sticky-timeouts uname-2 verbose whole-seconds
setsid: cfw||| ctty fork wait
sftp: qCv46rp|iPl||
shuf: erz|ino|| echo head-count input-range random-source repeat zero-terminated
size: Afhotv||| common target
sort: MRVbcCdfghimnrsuz|kSto|| batch-size buffer-size check debug dictionary-order field-separator
  general-numeric-sort human-numeric-sort ignore-case ignore-leading-blanks ignore-nonprinting key merge month-sort
  numeric-sort parallel random-sort random-source reverse sort stable unique version-sort zero-terminated
split: deux|Cablnt|| additional-suffix bytes elide-empty-files hex-suffixes line-bytes lines number numeric-suffixes
  separator suffix-length unbuffered verbose
sqlite3,sqlite: ||| -header -noheader -column -csv -json -line -list -html -markdown -table -box -quote -readonly
  -batch -bail -echo -separator -nullvalue -safe -interactive header noheader column csv json line list html markdown
  table box quote readonly batch bail echo separator nullvalue safe interactive
ss: 046HMORSabdehilmnoprstuwxzT|Af|| all bpf cgroup context contexts dccp events extended family inet-sockopt info
  ipv4 ipv6 listening memory mptcp net no-header numeric oneline options packet processes query raw resolve sctp
  socket summary tcp threads tipc tipcinfo tos udp unix vsock xdp
ssh: 46CqTtvNnxa|pil||
stat: Lcft||| cached dereference file-system printf terse
stdbuf: |eio|| error input output
strace: CTVcfhiknrtvwxyYqZz|eEsuaIOSUX|| abbrev absolute-timestamps columns const-print-style debug decode-fds
  decode-pids env failed-only follow-forks instruction-pointer interruptible no-abbrev quiet raw read
  relative-timestamps seccomp-bpf signal stack-traces status string-limit strings-in-hex successful-only summary
  summary-columns summary-only summary-sort-by summary-syscall-overhead summary-wall-clock syscall-number
  syscall-times tips trace trace-path verbose write
strings: adfov|Uenstw|| all bytes data encoding include-all-whitespace output-separator print-file-name radix unicode
sum: rs||| sysv
tac: br|s|| before regex separator
tail: Fqvz|cns|f| bytes follow lines max-unchanged-stats pid quiet retry silent sleep-interval verbose zero-terminated
tar: ||| acls add-file after-date anchored append atime-preserve auto-compress backup block-number blocking-factor
  bzip2 catenate check-device check-links checkpoint clamp-mtime compare compress concatenate confirmation create
  delay-directory-restore delete dereference diff directory exclude exclude-backups exclude-caches exclude-caches-all
  exclude-caches-under exclude-from exclude-ignore exclude-ignore-recursive exclude-tag exclude-tag-all
  exclude-tag-under exclude-vcs exclude-vcs-ignores extract file force-local format full-time get group group-map
  gunzip gzip hard-dereference hole-detection ignore-case ignore-command-error ignore-failed-read ignore-zeros
  incremental interactive keep-directory-symlink keep-newer-files keep-old-files label level list lzip lzma lzop mode
  mtime newer newer-mtime no-acls no-anchored no-auto-compress no-check-device no-delay-directory-restore
  no-ignore-case no-ignore-command-error no-null no-overwrite-dir no-quote-chars no-recursion no-same-owner
  no-same-permissions no-seek no-selinux no-unquote no-verbatim-files-from no-wildcards no-wildcards-match-slash
  no-xattrs null numeric-owner occurrence old-archive one-file-system one-top-level overwrite overwrite-dir owner
  owner-map pax-option portability posix preserve-order preserve-permissions quote-chars quoting-style
  read-full-records record-size recursion recursive-unlink remove-files restrict rmt-command rsh-command same-order
  same-owner same-permissions seek selinux show-defaults show-omitted-dirs show-snapshot-field-ranges
  show-stored-names show-transformed-names skip-old-files sort sparse sparse-version starting-file strip-components
  suffix tape-length test-label to-stdout totals touch transform uncompress ungzip unlink-first unquote update usage
  utc verbatim-files-from verbose verify volno-file warning wildcards wildcards-match-slash xattrs xattrs-exclude
  xattrs-include xform xz zstd version-control
taskset: ac||| all-tasks cpu-list
tcpdump: AbDefHIKLNOpqStuUvxXnl|cisyTr|| number list-interfaces count snapshot-length
tee: aip||| append ignore-interrupts output-error
time: apvq|fo|| portability verbose quiet format append
timeout: v|ks|| foreground kill-after preserve-status signal verbose
top: bcHiS1|dnoupUEew||
touch: acfhm|drt|| date no-create no-dereference reference time
tput: x|ST||
tr: Ccdst||| complement delete squeeze-repeats truncate-set1
tree: ||| noreport dirsfirst filelimit prune charset inodes device gitignore du si timefmt sort matchdirs ignore-case
tty: s||| quiet silent
uname: aimnoprsv||| all hardware-platform kernel-name kernel-release kernel-version machine nodename operating-system
  processor
unexpand: a|t|| all first-only tabs
uniq: Dcdiuz|fsw|| all-repeated check-chars count group ignore-case repeated skip-chars skip-fields unique
  zero-terminated
unzip: CLUXZafjlnopqtuvz|dxP||
uptime: Vhps||| pretty since
valgrind: qv||| leak-check track-origins error-exitcode show-leak-kinds quiet verbose num-callers
w: fiosu||| short no-header from ip-addr no-current old-style
watch: bcegptwx|nq|d| beep chgexit color differences equexit errexit exec interval no-title no-wrap precise
wc: Lclmw||| bytes chars lines max-line-length words
wget: ||| quiet verbose no-verbose tries no-clobber continue show-progress timestamping server-response spider timeout
  dns-timeout connect-timeout read-timeout wait waitretry random-wait quota limit-rate inet4-only inet6-only
  max-redirect user-agent referer header no-check-certificate https-only recursive level no-parent page-requisites
  no-directories cut-dirs no-host-directories accept reject domains adjust-extension convert-links no-cookies no-cache
  no-hsts progress no-proxy
whereis: bflmsu|BMS||
which: as|||
who: HTabdlmpqrstuw||| all boot count dead heading ips login lookup mesg message process runlevel short time users
  writable
xargs: 0oprtx|EILPadns|eil| arg-file delimiter eof exit interactive max-args max-chars max-lines max-procs
  no-run-if-empty null open-tty process-slot-var replace show-limits verbose
xmllint: ||| format noout xpath noent nonet huge recover html xmlout c14n encode schema dtdvalid valid pretty noblanks
  nowarning quiet
xxd: CEabdehiru|cglnos||
yq: ||| colors no-colors indent null-input output-format input-format prettyPrint unwrapScalar exit-status no-doc
  raw-output yaml-output compact-output
zgrep: EFGHILchilnoqsvwx|ABCem||
zip: ||| quiet verbose recurse-paths junk-paths exclude include test
"""
