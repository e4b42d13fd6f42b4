#!/usr/bin/env python3
"""Measures how well `ramus check --secrets` and `export --redact` find secrets, compared with gitleaks and detect-secrets.

Usage: bench/secrets.py RAMUS [--gitleaks PATH] [--detect-secrets PATH] [--seed N] [--list]

Makes a corpus of planted secrets and of look-alikes at random (no key in it is real), writes it as a
Claude Code history for ramus and as one text file per item for the other two, and counts for each
tool: recall (planted secrets found), precision (flagged items that hold a secret). For ramus, a secret
counts as found only if `export --redact` leaves nothing of it in any of five formats.
"""

import argparse
import base64
import collections
import json
import pathlib
import random
import string
import subprocess
import tempfile

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM, HEX = string.ascii_letters + DIGITS, "0123456789abcdef"
WORD, B64 = ALNUM + "_-", ALNUM + "+/"
SECRETS_PER_KIND, DECOYS_PER_KIND = 10, 20

rng = random.Random()


def chars(alphabet, length):
    return "".join(rng.choice(alphabet) for _ in range(length))


def uuid():
    return "-".join(chars(HEX, n) for n in (8, 4, 4, 4, 12))


def password():
    words = ["tiger", "river", "Falcon", "coffee", "Winter", "marble", "Quartz", "saddle", "lantern"]
    return rng.choice([
        lambda: rng.choice(words) + chars(DIGITS, rng.randint(1, 4)) + rng.choice("!#*?"),
        lambda: chars(ALNUM, rng.randint(8, 16)) + rng.choice(DIGITS),
        lambda: rng.choice(words) + "-" + rng.choice(words) + "-" + chars(DIGITS, 2),
        lambda: chars(ALNUM + "!@#%^*_+", rng.randint(10, 18)) + "7x",
    ])()


def simple_password():
    return chars(LOWER, 5) + chars(DIGITS, 3)


def b64(text):
    return base64.b64encode(text.encode()).decode()


def b64url(length):
    return chars(WORD, length)


def jwt():
    head = b64('{"alg":"HS256","typ":"JWT"}').rstrip("=")
    body = b64(json.dumps({"sub": chars(DIGITS, 10), "name": chars(LOWER, 7)})).rstrip("=")
    return f"{head}.{body}.{b64url(43)}"


def key_body(lines=12):
    return [chars(B64, 64) for _ in range(lines)] + [chars(B64, 42) + "=="]


def assigned(*names):
    """The ways in which a value is given to a name."""
    def place(secret):
        name = rng.choice(names)
        return rng.choice([
            f"{name}={secret}", f'export {name}="{secret}"', f"{name}: {secret}", f'{name} = "{secret}"',
            f"{name}='{secret}'", f'{{"{name}": "{secret}"}}', f'const {name} = "{secret}";',
            f'  "{name}": "{secret}",', f"os.environ['{name}'] = '{secret}'",
        ])
    return place


def bare(*texts):
    return lambda secret: rng.choice(texts or ("use {s} for it", "token {s}", "({s})", "key: {s}\nnext")).replace("{s}", secret)


def simple(prefix, alphabet, length, *names):
    names = names or ("API_TOKEN", "token", "key")
    def make():
        secret = prefix + chars(alphabet, length)
        return secret, rng.choice([bare(), assigned(*names)])(secret)
    return make


def named(alphabet, length, *names):
    def make():
        secret = chars(alphabet, length - 2) + rng.choice(DIGITS) + rng.choice([c for c in alphabet if c.isalpha()])
        return secret, assigned(*names)(secret)
    return make


def text(template, secret=password):
    def make():
        value = secret()
        return value, template.replace("{s}", value).replace("{u}", chars(LOWER, 6))
    return make


def private_key(kind, form):
    def make():
        body = key_body()
        lines = [f"-----BEGIN {kind}-----", *body, f"-----END {kind}-----"]
        shown = {
            "plain": "\n".join(lines),
            "escaped": json.dumps({"type": "service_account", "private_key": "\n".join(lines) + "\n"}),
            "numbered": "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(lines, 1)),
            "patch": "\n".join("+" + line for line in lines),
            "head": "\n".join(lines[:7]),
            "tail": "\n".join(lines[-7:]),
        }[form]
        return body[5] if form == "head" else body[-3], shown
    return make


def env_block():
    secret = password()
    return secret, f"PORT=3000\nNODE_ENV=production\nSESSION_SECRET={secret}\nLOG_LEVEL=info\n"


def basic_auth():
    secret = b64(f"{chars(LOWER, 6)}:{password()}")
    return secret, f"Authorization: Basic {secret}"


def kubernetes():
    secret = b64(password() + "zz"[: rng.randint(0, 2)])
    return secret, f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  db-login: {secret}\n"


KINDS = {
    "aws access key": simple("AKIA", UPPER + "234567", 16, "AWS_ACCESS_KEY_ID"),
    "aws secret key": named(B64, 40, "AWS_SECRET_ACCESS_KEY", "aws_secret_access_key", "secretAccessKey"),
    "aws session token": named(B64, 300, "AWS_SESSION_TOKEN", "aws_session_token"),
    "gcp api key": simple("AIza", WORD, 35, "GOOGLE_API_KEY"),
    "gcp oauth secret": simple("GOCSPX-", WORD, 28, "GOOGLE_CLIENT_SECRET"),
    "gcp access token": simple("ya29.", WORD, 120, "access_token"),
    "azure storage key": text("DefaultEndpointsProtocol=https;AccountName=acct;AccountKey={s};EndpointSuffix=core.windows.net", lambda: chars(B64, 86) + "=="),
    "azure client secret": simple("", "", 0) if False else (lambda: (lambda s: (s, assigned("AZURE_CLIENT_SECRET", "client_secret")(s)))(chars(ALNUM, 3) + chars(DIGITS, 1) + "Q~" + chars(ALNUM, 33))),
    "azure openai key": named(HEX, 32, "AZURE_OPENAI_API_KEY", "api-key"),
    "alibaba access key": simple("LTAI", ALNUM, 20, "ALIBABA_ACCESS_KEY_ID"),
    "digitalocean token": simple("dop_v1_", HEX, 64, "DIGITALOCEAN_TOKEN"),
    "heroku key": lambda: (lambda s: (s, assigned("HEROKU_API_KEY")(s)))(uuid()),
    "cloudflare token": named(WORD, 40, "CLOUDFLARE_API_TOKEN"),
    "github token": simple("ghp_", ALNUM, 36, "GITHUB_TOKEN"),
    "github fine-grained": lambda: (lambda s: (s, bare()(s)))("github_pat_" + chars(ALNUM, 22) + "_" + chars(ALNUM, 59)),
    "gitlab token": simple("glpat-", WORD, 20, "GITLAB_TOKEN"),
    "slack bot token": lambda: (lambda s: (s, bare()(s)))(f"xoxb-{chars(DIGITS, 12)}-{chars(DIGITS, 12)}-{chars(ALNUM, 24)}"),
    "slack webhook": lambda: (lambda s: (s, f"curl -d '{{}}' https://hooks.slack.com/services/{s}"))(f"T{chars(UPPER + DIGITS, 8)}/B{chars(UPPER + DIGITS, 8)}/{chars(ALNUM, 24)}"),
    "stripe key": simple("sk_live_", ALNUM, 24, "STRIPE_SECRET_KEY"),
    "stripe webhook": simple("whsec_", ALNUM, 32, "STRIPE_WEBHOOK_SECRET"),
    "twilio key": simple("SK", HEX, 32, "TWILIO_API_KEY"),
    "twilio auth token": named(HEX, 32, "TWILIO_AUTH_TOKEN"),
    "sendgrid key": lambda: (lambda s: (s, assigned("SENDGRID_API_KEY")(s)))(f"SG.{chars(WORD, 22)}.{chars(WORD, 43)}"),
    "mailgun key": simple("key-", HEX, 32, "MAILGUN_API_KEY"),
    "mailchimp key": lambda: (lambda s: (s, assigned("MAILCHIMP_API_KEY", "mc_key")(s)))(chars(HEX, 32) + "-us" + chars("123456789", 2)),
    "npm token": simple("npm_", ALNUM, 36, "NPM_TOKEN", "//registry.example.org/:_authToken"),
    "pypi token": simple("pypi-AgEIcHlwaS5vcmc", WORD, 120, "TWINE_PASSWORD"),
    "rubygems key": simple("rubygems_", HEX, 48, "GEM_HOST_API_KEY"),
    "docker hub token": simple("dckr_pat_", WORD, 27, "DOCKER_TOKEN"),
    "anthropic key": simple("sk-ant-api03-", WORD, 95, "ANTHROPIC_API_KEY"),
    "openai key": simple("sk-proj-", WORD, 120, "OPENAI_API_KEY"),
    "hugging face token": simple("hf_", ALNUM, 34, "HF_TOKEN"),
    "groq key": simple("gsk_", ALNUM, 52, "GROQ_API_KEY"),
    "replicate token": simple("r8_", ALNUM, 37, "REPLICATE_API_TOKEN"),
    "databricks token": simple("dapi", HEX, 32, "DATABRICKS_TOKEN"),
    "datadog key": named(HEX, 40, "DATADOG_APP_KEY", "DD_API_KEY"),
    "new relic key": simple("NRAK-", UPPER + DIGITS, 27, "NEW_RELIC_API_KEY"),
    "grafana token": lambda: (lambda s: (s, bare()(s)))("glsa_" + chars(ALNUM, 32) + "_" + chars(HEX, 8)),
    "vault token": simple("hvs.", WORD, 95, "VAULT_TOKEN"),
    "terraform token": lambda: (lambda s: (s, assigned("TF_TOKEN", "token")(s)))(chars(ALNUM, 14) + ".atlasv1." + chars(WORD, 66)),
    "pulumi token": simple("pul-", HEX, 40, "PULUMI_ACCESS_TOKEN"),
    "shopify token": simple("shpat_", HEX, 32, "SHOPIFY_TOKEN"),
    "square token": simple("sq0atp-", WORD, 22, "SQUARE_TOKEN"),
    "telegram bot token": lambda: (lambda s: (s, assigned("TELEGRAM_BOT_TOKEN")(s)))(chars("123456789", 10) + ":A" + chars(WORD, 34)),
    "discord bot token": lambda: (lambda s: (s, assigned("DISCORD_TOKEN")(s)))(b64(chars("123456789", 18)).rstrip("=") + "." + chars(WORD, 6) + "." + chars(WORD, 38)),
    "linear key": simple("lin_api_", ALNUM, 40, "LINEAR_API_KEY"),
    "notion token": simple("ntn_", ALNUM, 46, "NOTION_TOKEN"),
    "figma token": simple("figd_", WORD, 40, "FIGMA_TOKEN"),
    "postman key": lambda: (lambda s: (s, bare()(s)))("PMAK-" + chars(HEX, 24) + "-" + chars(HEX, 34)),
    "supabase token": simple("sbp_", HEX, 40, "SUPABASE_ACCESS_TOKEN"),
    "tailscale key": lambda: (lambda s: (s, bare()(s)))("tskey-auth-" + chars(ALNUM, 16) + "-" + chars(ALNUM, 32)),
    "jwt": lambda: (lambda s: (s, rng.choice([bare(), assigned("jwt", "id_token")])(s)))(jwt()),
    "bearer header": text('curl -H "Authorization: Bearer {s}" https://api.test.dev', lambda: chars(ALNUM, 40) + "7"),
    "basic header": basic_auth,
    "token header": text("Authorization: token {s}", lambda: chars(HEX, 40)),
    "api key header": text("X-Api-Key: {s}", lambda: chars(ALNUM, 32) + "3"),
    "cookie header": text("Cookie: theme=dark; sid={s}", lambda: chars(ALNUM, 32) + "5"),
    "rsa key": private_key("RSA PRIVATE KEY", "plain"),
    "openssh key": private_key("OPENSSH PRIVATE KEY", "plain"),
    "key in json": private_key("PRIVATE KEY", "escaped"),
    "key with line numbers": private_key("EC PRIVATE KEY", "numbered"),
    "key in a patch": private_key("PRIVATE KEY", "patch"),
    "key without its end": private_key("RSA PRIVATE KEY", "head"),
    "key without its beginning": private_key("RSA PRIVATE KEY", "tail"),
    "password assigned": lambda: (lambda s: (s, assigned("password", "DB_PASSWORD", "PGPASSWORD", "admin_pwd", "mysqlPassword")(s)))(simple_password()),
    "password in yaml": text("database:\n  user: app\n  password: {s}\n  port: 5432", simple_password),
    "password in json": text('{"user": "app", "password": "{s}"}'),
    "password in json, escaped": lambda: (lambda s: (s, json.dumps({"body": json.dumps({"user": "a", "password": s})})))(simple_password()),
    "password in xml": text("<datasource><user>app</user><password>{s}</password></datasource>", simple_password),
    "password in properties": text("spring.datasource.password={s}\nserver.port=8080"),
    "password in a connection string": text("Server=db;Database=x;User Id=app;Password={s};Encrypt=true", simple_password),
    "password in php": text("define('DB_PASSWORD', '{s}');"),
    "password in a url": text("postgres://{u}:{s}@db.internal:5432/app", simple_password),
    "password of redis url": text("redis://:{s}@cache.internal:6379/0", simple_password),
    "curl user": text("curl -s -u {u}:{s} https://ci.internal/job"),
    "mysql option": text("mysql -h db -u root -p{s} app < dump.sql", simple_password),
    "sshpass": text("sshpass -p {s} ssh root@10.0.0.5 uptime", simple_password),
    "password option": text("vault login --username {u} --password {s}"),
    "docker login": text("docker login -u {u} -p {s} registry.internal"),
    "redis-cli": text("redis-cli -h cache -a {s} ping", simple_password),
    "sql user": text("CREATE USER app IDENTIFIED BY '{s}';"),
    "sql role": text("ALTER ROLE app WITH PASSWORD '{s}';"),
    "netrc": text("machine git.internal login {u} password {s}", simple_password),
    "pgpass": text("db.internal:5432:app:{u}:{s}", simple_password),
    "env block": env_block,
    "dockerfile env": text("FROM alpine\nENV DB_PASSWORD {s}\nRUN true"),
    "spoken": text("the admin password is {s}, please log in", simple_password),
    "piped to sudo": text("echo '{s}' | sudo -S apt-get update", simple_password),
    "kubernetes secret": kubernetes,
    "django secret": named(ALNUM, 50, "SECRET_KEY", "DJANGO_SECRET_KEY"),
    "encryption key": named(HEX, 64, "ENCRYPTION_KEY", "signing_key", "master_key"),
    "client secret": named(ALNUM, 32, "client_secret", "OAUTH_CLIENT_SECRET", "clientSecret"),
    "access token": named(ALNUM, 40, "access_token", "ACCESS_TOKEN", "refreshToken", "auth_token"),
}


def image():
    return "data:image/png;base64,iVBORw0KGgo" + chars(B64, 400) + "=="


# Text that names or resembles secrets and holds none.
COMMON_DECOYS = [
    lambda: f"commit {chars(HEX, 40)}\nAuthor: {chars(LOWER, 5)}",
    lambda: f"sha256:{chars(HEX, 64)}",
    lambda: f'"integrity": "sha512-{chars(B64, 86)}=="',
    lambda: f"request_id={uuid()}",
    lambda: f'"id": "{uuid()}"',
    lambda: f"<img src=\"{image()}\">",
    lambda: f'{{"etag": "{chars(HEX, 32)}"}}',
    lambda: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{chars(B64, 43)} me@laptop",
    lambda: f"index {chars(HEX, 7)}..{chars(HEX, 7)} 100644",
    lambda: f"checksum = \"{chars(HEX, 64)}\"",
    lambda: f"toolu_01{chars(ALNUM, 22)} msg_01{chars(ALNUM, 22)}",
    lambda: f"cache_key: {chars(HEX, 40)}",
    lambda: f"-----BEGIN CERTIFICATE-----\n{chars(B64, 64)}\n-----END CERTIFICATE-----",
    lambda: f"-----BEGIN PUBLIC KEY-----\n{chars(B64, 64)}\n-----END PUBLIC KEY-----",
    lambda: "if text.startswith('-----BEGIN RSA PRIVATE KEY-----'):",
    lambda: f"input_tokens: {chars(DIGITS, 5)}, output_tokens: {chars(DIGITS, 4)}",
    lambda: f"docker run -u 1000:1000 -p {rng.randint(1000, 9000)}:80 nginx",
    lambda: f"mkdir -p build{rng.randint(1, 99)}/{chars(LOWER, 6)}",
    lambda: f"https://example.org/{chars(LOWER, 6)}?page={rng.randint(1, 99)}&sort=name",
    lambda: f"git clone https://github.com/{chars(LOWER, 6)}/{chars(LOWER, 6)}.git",
    lambda: f"the token bucket refills {rng.randint(2, 99)} times a second",
    lambda: f"public_key = \"{chars(B64, 43)}=\"",
    lambda: f"password_hash = '$2b$12${chars(ALNUM, 53)}'",
    lambda: f"\"tokenizer\": \"{chars(LOWER, 8)}-v{rng.randint(1, 9)}\"",
    lambda: f"passwords must have {rng.randint(8, 20)} characters",
]

NAMES = ["password", "DB_PASSWORD", "apiKey", "API_KEY", "secret", "CLIENT_SECRET", "token", "ACCESS_TOKEN", "auth_token", "passwd"]
NAMED_DECOYS = [
    lambda n: f"{n}=${n.upper()}", lambda n: f'{n}="${{{n.upper()}}}"', lambda n: f"{n}: str", lambda n: f"{n}: String,",
    lambda n: f"{n} = os.environ['{n.upper()}']", lambda n: f"{n} = process.env.{n.upper()}", lambda n: f"{n}=None",
    lambda n: f"{n}: Optional[str] = None", lambda n: f"{n} = get_{n.lower()}()", lambda n: f"self.{n} = {n}",
    lambda n: f'{n} = "<your-{n.lower()}>"', lambda n: f"{n}=your_{n.lower()}_here", lambda n: f'"{n}": "********"',
    lambda n: f'"{n}": "xxxxxxxxxxxxxxxx"', lambda n: f'"{n}": {{"type": "string"}}', lambda n: f"{n}: {{{{ .Values.{n} }}}}",
    lambda n: f"{n}=changeme", lambda n: f'"{n}": "REDACTED"', lambda n: f'{n} = config["{n}"]', lambda n: f"{n}: config.{n},",
    lambda n: f"--{n.lower().replace('_', '-')} $X", lambda n: f"{n}_FILE=/run/secrets/{n.lower()}",
    lambda n: f"<label for=\"{n}\">{n}</label>", lambda n: f"if not {n}: raise ValueError('{n} is required')",
    lambda n: f"`{n}`: required, the {n} of the account", lambda n: f"def login(user, {n}):", lambda n: f"{n}: null",
    lambda n: f"{n} string `json:\"{n}\"`", lambda n: f'"{n}": "EXAMPLE-{n}"', lambda n: f"{n}=%{n.upper()}%",
]
URL_DECOYS = [
    lambda: "postgres://user:password@localhost:5432/db", lambda: "postgres://${USER}:${PASS}@db/app",
    lambda: "https://<user>:<password>@host/x", lambda: "redis://localhost:6379/0", lambda: "curl -u $USER:$PASS https://x.dev",
    lambda: "mysql -u root -p app", lambda: "Authorization: Bearer $TOKEN", lambda: "Authorization: Bearer <token>",
    lambda: "Authorization: Basic authentication is required", lambda: "curl -u user:password https://x.dev",
]


def lookalikes(kind):
    """The shape of a kind with a placeholder in it."""
    secret, shown = KINDS[kind]()
    if len(secret) < 12 or "\n" in shown or " PRIVATE " in shown:
        return []
    start = secret[: max(3, min(8, len(secret) // 4))] if secret[:3].isalpha() or "-" in secret[:9] or "_" in secret[:9] else ""
    return [start + "x" * (len(secret) - len(start)), f"{start}...", f"{start}<your-key>", start + "*" * 12]


def decoys(kind):
    made = [f"use {text}" for text in lookalikes(kind)]
    made += [make() for make in rng.sample(URL_DECOYS, 2)]
    made += [make(rng.choice(NAMES)) for make in rng.sample(NAMED_DECOYS, 7)]
    while len(made) < DECOYS_PER_KIND:
        made.append(rng.choice(COMMON_DECOYS)())
    return made[:DECOYS_PER_KIND]


def corpus():
    items = []
    for kind, make in KINDS.items():
        for _ in range(SECRETS_PER_KIND):
            secret, shown = make()
            assert secret in shown or "escaped" in kind, kind
            items.append((kind, secret, shown))
        items += [(kind, None, shown) for shown in decoys(kind)]
    return items


def write(items, root):
    project = root / "claude/projects/-work-app"
    project.mkdir(parents=True)
    (root / "plain").mkdir()
    lines, parent = [], None
    for n, (_, _, shown) in enumerate(items):
        record = {"parentUuid": parent, "type": "user", "uuid": f"{n:08x}-0000-4000-8000-000000000000", "timestamp": f"2026-01-01T{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}.000Z"}
        parent = record["uuid"]
        record["message"] = {"role": "user", "content": f"item {n}\n{shown}\nend"}
        lines.append(json.dumps(record, ensure_ascii=False))
        (root / f"plain/{n:05}.txt").write_text(shown + "\n")
    (project / "11111111-2222-4333-8444-555555555555.jsonl").write_text("\n".join(lines) + "\n")


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)


def ramus_found(ramus, items, root):
    env = {"HOME": str(root), "CLAUDE_CONFIG_DIR": str(root / "claude"), "PATH": "/usr/bin:/bin"}
    answer = run(ramus, "--no-cache", "--json", "check", "--secrets", env=env)
    assert answer.returncode == 0, answer.stderr
    answer = json.loads(answer.stdout)
    assert answer["unlisted"] == 0
    flagged = {place["line"] - 1 for session in answer["sessions"] for place in session["places"]}
    leaks = collections.Counter()
    for format in ("md", "html", "json", "jsonl", "txt"):
        out = root / f"out-{format}"
        done = run(ramus, "--no-cache", "export", "--redact", "--format", format, "--tools", "full", "--out", out, env=env)
        assert done.returncode == 0, done.stderr
        written = "\n".join(path.read_text() for path in out.rglob("*") if path.is_file())
        for n, (_, secret, _) in enumerate(items):
            leaks[n] += secret is not None and secret in written
    return {n for n in flagged if not leaks[n]}, [n for n, times in leaks.items() if times]


def gitleaks_found(gitleaks, root):
    report = root / "gitleaks.json"
    run(gitleaks, "dir", root / "plain", "--no-banner", "--exit-code", "0", "--report-format", "json", "--report-path", report)
    return {int(pathlib.Path(found["File"]).stem) for found in json.loads(report.read_text())}


def detect_secrets_found(detect_secrets, root):
    answer = run(detect_secrets, "scan", "--all-files", "--no-verify", "plain", cwd=root)
    return {int(pathlib.Path(name).stem) for name in json.loads(answer.stdout)["results"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ramus", type=pathlib.Path)
    parser.add_argument("--gitleaks", type=pathlib.Path)
    parser.add_argument("--detect-secrets", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print what ramus missed and flagged wrongly")
    args = parser.parse_args()
    rng.seed(args.seed)
    items = corpus()
    planted = {n for n, (_, secret, _) in enumerate(items) if secret}
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        write(items, root)
        ramus, leaks = ramus_found(args.ramus.resolve(), items, root)
        tools = {"ramus": ramus}
        if args.gitleaks:
            tools["gitleaks"] = gitleaks_found(args.gitleaks.resolve(), root)
        if args.detect_secrets:
            tools["detect-secrets"] = detect_secrets_found(args.detect_secrets.resolve(), root)
        if len(tools) == 3:
            tools["both others together"] = tools["gitleaks"] | tools["detect-secrets"]
    print(f"seed {args.seed}: {len(KINDS)} kinds, {len(planted)} planted, {len(items) - len(planted)} look-alikes; left in an export: {len(leaks)}")
    for name, found in tools.items():
        right = len(found & planted)
        print(f"{name:>22}: recall {right / len(planted):.3f}, precision {right / max(1, len(found)):.3f}")
    missed = planted - ramus
    others = tools.get("both others together", set())
    print(f"found by the others and not by ramus: {len(missed & others)}")
    if args.list:
        for n in sorted(missed):
            print("MISSED" + (" (others found it)" if n in others else ""), items[n][0], "|", items[n][2][:300].replace("\n", "⏎"))
        for n in sorted(ramus - planted):
            print("WRONG", items[n][0], "|", items[n][2][:300].replace("\n", "⏎"))


if __name__ == "__main__":
    main()
