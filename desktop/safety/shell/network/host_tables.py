"""Tables of ``hosts``: which options take a value (so that it is no host), which lead to hosts that the words do
not name, and which programs are known to do without the network."""

from __future__ import annotations

from desktop.safety.shell.programs.effects import DELETES, READS
from desktop.safety.shell.programs.git import SUBCOMMANDS

CURL_VALUED = (
    "--abstract-unix-socket --alt-svc --aws-sigv4 --cacert --capath --cert --cert-type --ciphers --config "
    "--connect-timeout --connect-to --continue-at --cookie --cookie-jar --create-file-mode --crlfile --curves --data "
    "--data-ascii --data-binary --data-raw --data-urlencode --delegation --dns-interface --dns-ipv4-addr "
    "--dns-ipv6-addr --dns-servers --dump-header --ech --egd-file --engine --etag-compare --etag-save "
    "--expect100-timeout --form --form-string --ftp-account --ftp-alternative-to-user --ftp-method --ftp-port "
    "--ftp-ssl-ccc-mode --happy-eyeballs-timeout-ms --haproxy-clientip --header --help --hostpubmd5 --hostpubsha256 "
    "--hsts --interface --ip-tos --ipfs-gateway --json --keepalive-cnt --keepalive-time --key --key-type --krb "
    "--libcurl --limit-rate --local-port --login-options --mail-auth --mail-from --mail-rcpt --max-filesize "
    "--max-redirs --max-time --netrc-file --noproxy --oauth2-bearer --output --output-dir --parallel-max --pass "
    "--pinnedpubkey --proto --proto-default --proto-redir --proxy-cacert --proxy-capath --proxy-cert "
    "--proxy-cert-type --proxy-ciphers --proxy-crlfile --proxy-header --proxy-key --proxy-key-type --proxy-pass "
    "--proxy-pinnedpubkey --proxy-service-name --proxy-tls13-ciphers --proxy-tlsauthtype --proxy-tlspassword "
    "--proxy-tlsuser --proxy-user --pubkey --quote --random-file --range --rate --referer --request "
    "--request-target --resolve --retry --retry-delay --retry-max-time --sasl-authzid --service-name "
    "--socks5-gssapi-service --speed-limit --speed-time --stderr --telnet-option --tftp-blksize --time-cond "
    "--tls-max --tls13-ciphers --tlsauthtype --tlspassword --tlsuser --trace --trace-ascii --trace-config "
    "--unix-socket --upload-file --url-query --user --user-agent --variable --vlan-priority --write-out"
)
CURL_FLAGS = "--head --netrc --parallel --crlf --ftp-ssl-ccc"
"""Without a value, though one that has one begins so."""
CURL_ELSEWHERE = (
    "-L --location --location-trusted -K --config --unix-socket --abstract-unix-socket -P --ftp-port --alt-svc "
    "--ipfs-gateway"
)
WGET_VALUED = (
    "--execute --output-file --append-output --report-speed --input-file --base --config --rejected-log --tries "
    "--retry-on-http-error --output-document --start-pos --timeout --dns-timeout --connect-timeout --read-timeout "
    "--wait --waitretry --quota --bind-address --limit-rate --restrict-file-names --prefer-family --user --password "
    "--use-askpass --local-encoding --remote-encoding --directory-prefix --cut-dirs --http-user --http-password "
    "--default-page --header --compression --proxy-user --proxy-password --referer --user-agent --load-cookies "
    "--save-cookies --post-data --post-file --method --body-data --body-file --secure-protocol --certificate "
    "--certificate-type --private-key --private-key-type --ca-certificate --ca-directory --crl-file --pinnedpubkey "
    "--ciphers --ftp-user --ftp-password --warc-file --warc-header --warc-max-size --warc-dedup --warc-tempdir "
    "--level --backups --accept --reject --accept-regex --reject-regex --regex-type --domains --exclude-domains "
    "--follow-tags --ignore-tags --include-directories --exclude-directories --max-redirect"
)
WGET_ELSEWHERE = "-i --input-file --config -H --span-hosts"
GIT_VALUED = dict.fromkeys(
    "--depth --branch --origin --reference --reference-if-able --jobs --config --filter --shallow-since "
    "--shallow-exclude --upload-pack --receive-pack --server-option --push-option --refmap --deepen --strategy "
    "--strategy-option --separate-git-dir --template --repo --negotiation-tip --sort --exec".split(),
    True,
) | dict.fromkeys(("--recursive", "--recurse-submodules"), False)
DIG_TYPES = frozenset(
    "A AAAA AFSDB ANY AXFR CAA CDS CERT CH CNAME DNAME DNSKEY DS HINFO HS HTTPS IN IXFR LOC MX NAPTR NS NSEC NSEC3 PTR "
    "RRSIG SOA SPF SRV SSHFP SVCB TLSA TXT URI".split()
)
OFFLINE = (
    READS
    | DELETES
    | frozenset(
        "rm touch mkdir cp mv ln tee install tar unzip zip gzip gunzip bzip2 bunzip2 xz unxz zstd 7z patch chmod chown "
        "chgrp mkfifo mktemp dos2unix unix2dos csplit rename sponge sqlite3 ed ex".split()
    )
)
"""Programs that do all they do on this computer; so do those of ``OFFLINE_GIT`` of git's sub-commands."""
OFFLINE_GIT = SUBCOMMANDS
