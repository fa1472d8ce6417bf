"""What the keys of services look like: by a beginning that is theirs alone, or by what stands before them."""

from __future__ import annotations

import re

SHAPES: tuple[tuple[str, str], ...] = (
    ("private keys and certificates", r"-----BEGIN [A-Z0-9 ]{2,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{2,40}-----|\Z)"),
    ("PuTTY", r"PuTTY-User-Key-File-\d[\s\S]*"),
    (
        "JSON Web Tokens",  # each part is read up to where another token may begin: once, however many beginnings
        r"ey[JI](?:(?![^A-Za-z0-9]ey[JI])[\w=-]){3,}\.[\w=-]{3,}(?:\.[\w.+/=-]*)?|eyJ[\w-]{8,}",
    ),
    ("OpenAI, DeepSeek, OpenRouter, Anthropic, Stripe, LangSmith", r"(?:sk|pk|rk|csk|lsv2)[-_][\w-]{12,}"),
    ("Google", r"AIza[\w-]{20,}|ya29\.[\w.-]{10,}|GOCSPX-[\w-]{10,}|1//0[\w-]{20,}"),
    ("AWS", r"(?:A3T[A-Z0-9]|ABIA|ACCA|AGPA|AIDA|AIPA|AKIA|ANPA|ANVA|AROA|ASIA)[A-Z0-9]{12,}|ABSK[\w+/=-]{20,}"),
    ("Azure", r"(?:AccountKey|SharedAccessKey|SharedAccessSignature|[?&]sig)=[^\s;&]{8,}"),
    ("GitHub", r"gh[oprsu]_\w{16,}|github_pat_\w{16,}|v1\.[0-9a-f]{40}"),
    ("GitLab", r"gl[a-z]{2,8}-[\w.-]{16,}|GR1348941[\w-]{16,}"),
    ("Slack", r"(?i:xox[a-z](?:\.xox[a-z])?-[\w-]{6,}|xapp-[\w-]{8,})"),
    ("Hugging Face, Replicate, Groq, xAI, Perplexity", r"(?:hf|r8|gsk|xai|pplx|api_org)[-_][\w-]{16,}"),
    ("NVIDIA, Together, Fireworks, Tavily, Brave", r"(?:nvapi-|tgp_v1_|fw_|tvly-|BSA)[\w-]{16,}"),
    ("npm, PyPI, RubyGems, crates.io", r"npm_\w{20,}|pypi-[\w-]{16,}|rubygems_\w{20,}|cio\w{30,}"),
    ("Artifactory", r"(?:AKC|AP[\dA-F])(?=[A-Za-z]{0,80}\d)[A-Za-z0-9]{8,}"),
    (
        "1Password, Flutterwave, Brevo, Pulumi, OpenShift",
        r"A3-\w{6}-[\w-]{16,}|FLW(?:SECK|PUBK)\w*-\w{12,}|xkeysib-[\w-]{16,}|pul-\w{20,}|sha256~[\w-]{16,}",
    ),
    ("Docker, Dynatrace", r"dckr_(?:pat|oat)_[\w-]{16,}|dt0[a-z]\d{2}\.[A-Z0-9.]{20,}"),
    ("DigitalOcean, Doppler, Shopify", r"do[opr]_v1_\w{20,}|dp\.[a-z]{2,5}\.[\w.-]{20,}|shp[a-z]{2}_\w{16,}"),
    ("SendGrid, Mailgun, Mailchimp", r"SG\.[\w-]{8,}\.[\w-]{8,}|key-\w{32}|[0-9a-z]{32}-us\d{1,2}"),
    ("Twilio", r"(?:AC|SK)[0-9a-z]{32}"),
    ("Telegram, Discord", r"\d{8,12}:[\w-]{30,}|[MNO][\w-]{22,28}\.[\w-]{4,8}\.[\w-]{20,}"),
    (
        "Atlassian, Linear, Notion, Figma",
        r"AT(?:ATT|CTT|BB)[\w=-]{16,}|lin_(?:api|oauth)_\w{16,}|ntn_\w{16,}|figd_[\w-]{16,}",
    ),
    ("Databricks, Vault, Terraform", r"dapi[0-9a-f]{16,}|hv[bsr]\.[\w-]{16,}|\w{14}\.atlasv1\.[\w-]{16,}"),
    (
        "Sentry, Grafana, New Relic, Postman",
        r"sntry[a-z]_[\w=+/-]{16,}|gl(?:sa|c)_[\w=+/-]{16,}|NRA[AKL]-\w{16,}|PMAK-[\w-]{16,}",
    ),
    (
        "Supabase, PlanetScale, Netlify, Heroku",
        r"sbp_\w{16,}|pscale_\w{2,6}_[\w.-]{16,}|nf[pcoub]_\w{16,}|HRKU-[\w-]{16,}",
    ),
    ("Square, SoftLayer, age", r"sq0[a-z]{3}-[\w\\-]{16,}|EAAA[\w-]{16,}|AGE-SECRET-KEY-1\w{20,}"),
    ("OpenAI's organisations, webhooks", r"(?:whsec|sess|org|proj)[-_][A-Za-z0-9+/=]{20,}"),
)
"""Whose they are, and the pattern. Beginnings count in the letters in which they are given out."""
_SAID = (
    r"(?P<keep>(?:(?:api|access|account|private|signing|secret|encryption|aws|license)[_ -]?(?:access[_-]?)?key"
    r"|(?<![a-z])key|token|secret|passw(?:or)?d|passwd|pwd|passphrase|credential|authori[sz]ation|auth|client[_-]?id"
    r"|cookie|session[_-]?id|passwort|kennwort)s?"
    r"[\"'\]\s]{0,6}(?::=|=>|:{1,3}|=|\bis\b(?=\s\S{0,40}[\d!#$%&*?@]))[\s\"'\[(]{0,12}(?:(?:bearer|basic|token|digest)\s+)?)"
    r"(?!\[?REDACTED|(?:none|null|true|false|ok|missing|not|no)\b)(?P<said>[^\s\"',;<>)}\]]{3,})"
)
KEYS = re.compile("|".join(rf"(?<![A-Za-z0-9])(?:{shape})" for _, shape in SHAPES))
SAID = re.compile(_SAID, re.IGNORECASE)
"""A word that names a secret, and what stands behind it."""
RANDOM = re.compile(
    r"(?<![\w+/=-])(?=[\w+/=-]{0,200}\d)(?=[\w+/=-]{0,200}[a-z])(?=[\w+/=-]{0,200}[A-Z])[\w+/=-]{20,}"
    r"|(?<![\w+/=])(?=[\w+/=]{0,200}\d)(?=[\w+/=]{0,200}[A-Za-z])[\w+/=]{20,}"
    r"|(?<![\w+/=~.-])(?!\d{1,3}\.\d)(?=(?:[A-Za-z_+/=~.-]{0,60}\d){6})[\w+/=~.-]{24,}"
    r"|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
)
"""Long, with letters and digits: nothing in a report has to look so."""
