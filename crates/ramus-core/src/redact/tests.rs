use std::borrow::Cow;

use super::{Encoding, RedactionCounts, each_secret, mask_secret, redact_line, redact_text};

#[track_caller]
fn check(text: &str, expected: &str) {
    let mut found = RedactionCounts::default();
    assert_eq!(redact_text(text, &mut found), expected);
    assert_eq!(found.is_empty(), text == expected);
    assert_eq!(redact_text(expected, &mut RedactionCounts::default()), expected, "again");
}

#[test]
fn tokens_go_by_the_name_of_what_they_are_given_to() {
    let hex = "0123456789abcdef";
    check(
        &format!("DATADOG_API={}", "a1b2".repeat(10)),
        "DATADOG_API=[redacted:datadog-access-token]",
    );
    check(
        &format!(r#"{{\"snyk.token\": \"{hex}\"}}"#)
            .replace(hex, "01234567-89ab-cdef-0123-456789abcdef"),
        r#"{\"snyk.token\": \"[redacted:snyk-api-token]\"}"#,
    );
    check(&format!("facebook: '{hex}{hex}'"), "facebook: '[redacted:facebook-secret]'");
    for harmless in ["jira: see the board", "etsy = abcdefghijklmnopqrstuvwx", "sumo: 12"] {
        check(harmless, harmless);
    }
    // The length tells a key from a sum.
    check(&format!("linear: {hex}"), &format!("linear: {hex}"));
}

#[test]
fn tokens_go() {
    let github = format!("ghp_{}", "a1B2".repeat(9));
    check(&format!("use {github}!"), "use [redacted:github-pat]!");
    check(&format!(r"line\n{github}"), r"line\n[redacted:github-pat]");
    check(&format!("AKIA{}", "Z7".repeat(8)), "[redacted:aws-access-token]");
    check(&format!("k=sk-ant-api03-{}", "x9-_".repeat(20)), "k=[redacted:anthropic-api-key]");
    check(&format!("xoxb-{}-abc", "123456789012"), "[redacted:slack-bot-token]");
    check(&format!("hf_{}", "abCDefGHij".repeat(4)), "[redacted:huggingface-access-token]");
    check(&format!("glpat-{}", "abcdEFGHij".repeat(2)), "[redacted:gitlab-pat]");
    check(&format!("EAAA{}", "abcdefghijk".repeat(2)), "[redacted:square-access-token]");
    check(
        &format!("https://hooks.slack.com/services/{}", "T0aB/".repeat(9)),
        "https://[redacted:slack-webhook-url]",
    );
    check(
        &format!("bot 1234567890:AA{} ok", "x7-".repeat(11)),
        "bot [redacted:telegram-bot-api-token] ok",
    );
    check(&format!("'abc8Q~{}'", "dE5.".repeat(8)), "'[redacted:azure-ad-client-secret]'");
    check(
        &format!("{}.atlasv1.{}", "a1".repeat(7), "b2-_".repeat(16)),
        "[redacted:hashicorp-tf-api-token]",
    );
    check(
        "Authorization: Bearer abcdef0123456789abcdef",
        "Authorization: Bearer [redacted:curl-auth-header]",
    );
    check(
        &format!(
            "eyJ{}.eyJ{}.{}",
            "hbGciOiJIUzI1NiJ9", "zdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N"
        ),
        "[redacted:jwt]",
    );
    check("API_KEY=\"q8Xz2Lm9Wv4Rt7Yp1Ks6\"", "API_KEY=\"[redacted:generic-api-key]\"");
}

#[test]
fn keys_passwords_and_people_go() {
    let key =
        r"-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----\nrest";
    check(key, r"[redacted:private-key]\nrest");
    check("postgres://me:s3cr3t@db.host/x", "postgres://me:[redacted:password-in-url]@db.host/x");
    check(r"to\nann.b+c@mail.example.org.", r"to\n[redacted:email-address].");
    check("in /home/ann/work/x.rs", "in ~/work/x.rs");
    check(r#"{"cwd":"/Users/ann"}"#, r#"{"cwd":"~"}"#);
    check(r"C:\\Users\\ann\\x", r"~\\x");
}

#[test]
fn ordinary_text_stays() {
    for text in [
        "a skill-based task-list, sk-learn and desk-bound",
        "npm_config_registry hf_hub_download key-value",
        "let token = next_token(input); password: String",
        "user@host and @mention, a@b, x @ y.com",
        "https://example.org/path:8080/@scope/name",
        "/homepage /Userspace ./home",
        "input_tokens: 1234567890",
        "toolu_01ABCdef0123456789abcd msg_01XYZ0123456789abcdef",
    ] {
        check(text, text);
    }
}

/// Checks that a value goes from a text, and from a line of JSON that holds the text once or twice
/// escaped, which stays JSON.
#[track_caller]
fn check_gone(text: &str, secret: &str) {
    assert!(text.contains(secret), "{secret} in {text}");
    let redacted = redact_text(text, &mut RedactionCounts::default());
    assert!(!redacted.contains(secret), "{redacted}");
    let once = serde_json::json!({"type": "user", "message": {"content": text}, "uuid": "a"});
    let twice = serde_json::json!({"content": [{"type": "text", "text": once.to_string()}]});
    let json_secret = serde_json::to_string(secret).unwrap();
    for value in [once, twice] {
        let line = value.to_string();
        let redacted = redact_line(Cow::Borrowed(line.as_bytes()), &mut RedactionCounts::default());
        let redacted = String::from_utf8(redacted.into_owned()).unwrap();
        assert!(!redacted.contains(json_secret.trim_matches('"')), "{redacted}");
        let parsed: serde_json::Value = serde_json::from_str(&redacted).unwrap();
        assert_eq!(parsed.as_object().unwrap().len(), value.as_object().unwrap().len());
    }
}

/// Checks that a text stays as it is, also inside JSON.
#[track_caller]
fn check_kept(text: &str) {
    check(text, text);
    let line = serde_json::json!({"content": text}).to_string();
    let redacted = redact_line(Cow::Borrowed(line.as_bytes()), &mut RedactionCounts::default());
    assert_eq!(String::from_utf8_lossy(&redacted), line);
}

#[test]
fn passwords_go_however_they_are_written() {
    for text in [
        "password=hunter22",
        "DB_PASSWORD: hunter22",
        "PGPASSWORD=hunter22 psql -h db",
        "export MYSQL_PWD='hunter22'",
        r#"{"user": "a", "password": "hunter22"}"#,
        r#"{"db": {"passwd":"hunter22","port":1}}"#,
        "password: hunter22\nport: 5432",
        "  - password: \"hunter22\"  # dev",
        "const password = `hunter22`;",
        "let password: &str = \"hunter22\";",
        "password: string = 'hunter22'",
        "db_password := \"hunter22\"",
        "'password' => 'hunter22',",
        ":password => \"hunter22\"",
        "define('DB_PASSWORD', 'hunter22');",
        "os.environ[\"DB_PASSWORD\"] = \"hunter22\"",
        "conn.setPassword(\"hunter22\");",
        "<password>hunter22</password>",
        "<add key=\"ClearTextPassword\" value=\"hunter22\" />",
        "Server=db;User Id=sa;Password=hunter22;Encrypt=yes",
        "spring.datasource.password=hunter22",
        "jdbc:mysql://db/app?user=a&password=hunter22&ssl=true",
        "app --user a --password hunter22 --verbose",
        "app --db-password=hunter22",
        "curl -s -u admin:hunter22 https://x.dev",
        "curl --user 'admin:hunter22' https://x.dev",
        "curl https://x.dev \\\n  -u admin:hunter22",
        "mysql -u root -phunter22 app",
        "curl https://x.example mysql -phunter22 app",
        "mysqldump --all-databases -p'hunter22' > x",
        "sshpass -p hunter22 ssh host",
        "sshpass -p 'hunter22' ssh host",
        "redis-cli -a hunter22 ping",
        "docker login -u me -p hunter22 host",
        "mongosh -u me -p hunter22",
        "openssl rsa -in k.pem -passin pass:hunter22",
        "smbclient //srv/x -U me%hunter22",
        "echo 'hunter22' | sudo -S true",
        "echo root:hunter22 | chpasswd",
        "CREATE USER app IDENTIFIED BY 'hunter22';",
        "alter role app with password 'hunter22'",
        "machine git.dev login me password hunter22",
        "db:5432:app:me:hunter22",
        "ENV DB_PASSWORD hunter22",
        "the password is hunter22.",
        "postgres://me:hunter22@db/app",
        "amqp://me:hunter22@mq:5672/%2f",
        "https://x-access-token:hunter22@github.com/a/b",
        "SMTP_PASS=hunter22",
        "dbpass = 'hunter22'",
        "ADMIN_PASSWORD_PROD=hunter22",
        "wifi passphrase: hunter22",
        "password => \"hunter22\"",
        "Password : hunter22",
        "PASSWORD = 'hunter22'",
        "| password | hunter22 |",
        "**Password:** hunter22",
        "- Password: `hunter22`",
        "username: a, password: hunter22",
        "user=a password=hunter22 host=db",
        "$password = 'hunter22';",
        "$env:DB_PASSWORD = \"hunter22\"",
        "set DB_PASSWORD=hunter22",
        "password=hunter22&grant_type=password",
        "-d 'username=a&password=hunter22'",
        "-e MYSQL_ROOT_PASSWORD=hunter22 mysql:8",
        "environment:\n  - POSTGRES_PASSWORD=hunter22",
        "POSTGRES_PASSWORD: \"hunter22\"",
        "requests.get(url, auth=('admin', 'hunter22'))",
        "HTTPBasicAuth('admin', 'hunter22')",
        "psql \"host=db user=a password=hunter22\"",
        "PASSWORD='hunter22' ./run",
        "ansible_ssh_pass: hunter22",
        "ansible_become_password=hunter22",
        "wget --user=a --password=hunter22 https://x.dev",
        "ConvertTo-SecureString 'hunter22' -AsPlainText -Force",
        "gpg --batch --passphrase hunter22 -c x",
        "zip -P hunter22 x.zip x",
        "7z a -phunter22 x.7z x",
        "mongodb+srv://me:hunter22@cluster0.x.mongodb.net/db",
        "ftp://me:hunter22@ftp.dev/x",
        "user: me\npass: hunter22\n",
        "login: me / pw: hunter22",
        "my password was hunter22!",
        "pwd=hunter22",
        "\"adminPassword\" : \"hunter22\"",
        "password: 'hunter22',",
        "{password:\"hunter22\"}",
        "{\\\"password\\\":\\\"hunter22\\\"}",
        "?password=hunter22#x",
        "Password=\"hunter22\"",
    ] {
        check_gone(text, "hunter22");
    }
    check_gone("password = 'correct horse battery staple'", "horse battery");
    check_gone("POSTGRES_PASSWORD=letmein\nPOSTGRES_USER=app", "letmein");
    check_gone(r#"password = "p\"q!x9""#, "q!x");
    check_gone("DB_PASSWORD=p&ss(w)0rd;x", "w)0rd");
    check_gone("\"password\":\"$tr0ng!Pa55\"", "tr0ng");
    check_gone("password=hunter2secretX", "hunter2");
}

#[test]
fn what_only_names_a_password_stays() {
    for text in [
        "password=$PASSWORD",
        "PGPASSWORD=\"${PGPASSWORD}\" psql",
        "password: str",
        "password: Optional[str] = None",
        "password: String,",
        "password?: string;",
        "password = os.environ[\"DB_PASSWORD\"]",
        "password=process.env.DB_PASSWORD",
        "password = getpass.getpass()",
        "password=self.password, user=self.user",
        "password = hashlib.sha256(data).hexdigest()",
        "self.password = password",
        "login(user=user, password=password)",
        "login(user=user2, password=password2)",
        "\"password\": \"********\"",
        "\"password\": \"<your password>\"",
        "\"password\": \"Password\"",
        "\"password\": \"Enter your password\"",
        "\"password\": {\"type\": \"string\"}",
        "password: {{ .Values.db.password }}",
        "password: !vault db/password",
        "PASSWORD=%PASSWORD%",
        "DB_PASSWORD_FILE=/run/secrets/db",
        "password_hash = '$2b$12$abcdefghijklmnopqrstuv'",
        "passwordField.text = ''",
        "password: required, at least 8 characters",
        "The password must have 12 characters.",
        "password is required",
        "curl -u $USER:$PASS https://x.dev",
        "curl -u user:password https://x.dev",
        "docker run -u 1000:1000 -p 8080:80 x",
        "mysql -u root -p app",
        "mkdir -p build123/x",
        "postgres://user:password@localhost/db",
        "postgres://${USER}:${PASS}@db/app",
        "https://<user>:<password>@host/x",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "Authorization: Basic authentication",
        "secretKeyRef:\n  name: db-credentials\n  key: password",
        "token = next_token(input)",
        "token: \"identifier\"",
        "max_tokens: 4096",
        "api_key = settings.API_KEY",
        "API_KEY=your_api_key_here",
        "api_key: \"xxxxxxxxxxxxxxxxxxxx\"",
        "cache_key: 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
        "public_key = \"Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=\"",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-ant-...",
        "if key.startswith('-----BEGIN RSA PRIVATE KEY-----') and key.endswith('-----END RSA PRIVATE KEY-----'):",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQ\n-----END CERTIFICATE-----",
        "compass: north42, bypass=true1",
        "password = input('Password: ')",
        "password = prompt(\"Enter password: \")",
        "password: z.string().min(8)",
        "password: Joi.string().required()",
        "password: { type: String, required: true }",
        "Password string `json:\"password\"`",
        "password VARCHAR(255) NOT NULL",
        "password TEXT,",
        "type=\"password\" name=\"password\" id=\"password1\"",
        "<input type=\"password\" placeholder=\"Password\">",
        "def check_password(self, password):",
        "fn password(&self) -> &str",
        "assert password != None",
        "if password == other.password:",
        "expect(user.password).toBe(undefined)",
        "PasswordResetToken::create($user)",
        "password reset link sent to user 42",
        "error: password authentication failed for user \"postgres\"",
        "remote: Support for password authentication was removed on August 13, 2021.",
        "git config credential.helper store",
        "token expired at 2026-01-01T10:00:00Z",
        "token_type: bearer, expires_in: 3600",
        "\"next_page_token\": null",
        "const TOKEN_RE = /[a-z]+/",
        "secret: projects/x/secrets/db/versions/3",
        "secretName: db-credentials-v2",
        "keys: [a1, b2]",
        "key: f47ac10b-58cc-4372-a567-0e02b2c3d479",
        "\"key\": \"user:1234:profile\"",
        "primaryKey: 123456789012",
        "authorization: enabled",
        "author: jane42",
        "commit 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
        "x-request-id: 7f9c24e5-1b2d-4c3a-9e8f-0a1b2c3d4e5f",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "pip install python-jose==3.3.0 passlib==1.7.4",
        "hooks.slack.com is down",
        "ssh -p 2222 user@host",
        "rsync -avz -e 'ssh -p 22' a b",
        "psql -p 5432 -U app -d app",
        "cp -p a b; tar -p -xf c1.tar",
        "kubectl create secret generic db --from-literal=password=$PW",
        "curl -u \"$USER:$TOKEN\" https://x.dev",
        "curl -u : --negotiate https://x.dev",
        "docker login -u $USER -p $PASS",
        "sshpass -p \"$PASS\" ssh host",
        "sshpass -e ssh host",
        "echo \"$PASS\" | docker login --password-stdin",
        "ALTER USER x WITH PASSWORD :'pw'",
        "password '%s'",
        "IDENTIFIED BY ?",
        "basic understanding: of the code",
        "Bearer authentication is used",
        "Cookie: theme=dark; lang=en",
        "| password | the password of the user |",
        "auth=(user, password)",
        "**Password:** required",
        "stripe_key = \"pk_live_51H8xYzAbCdEfGhIjKlMnOpQr\"",
        "PASSWORD_FILE=/run/secrets/db/password1",
        "\"auth\": \"required\", \"sig\": \"none\"",
        "password = \"<your-password>\"\nend",
        "abc8Q~xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "| key | value |\n| token | string |",
        "keyboard: qwerty123",
        "monkey = banana123",
    ] {
        check_kept(text);
    }
}

#[test]
fn headers_and_cookies_go() {
    check_gone("Authorization: Basic YWRtaW46aHVudGVyMg==", "YWRtaW46aHVudGVyMg==");
    check_gone("-H 'authorization: basic YWRtaW46aHVudGVyMg=='", "YWRtaW46aHVudGVyMg==");
    check_gone("Authorization: token 0a1b2c3d4e5f60718293", "0a1b2c3d4e5f60718293");
    check_gone("\"Authorization\": \"Bearer q8Xz2Lm9Wv4R\"", "q8Xz2Lm9Wv4R");
    check_gone("X-Api-Key: q8Xz2Lm9Wv4Rt7Yp", "q8Xz2Lm9Wv4Rt7Yp");
    check_gone("PRIVATE-TOKEN: q8Xz2Lm9Wv4Rt7Yp", "q8Xz2Lm9Wv4Rt7Yp");
    check_gone("Cookie: a=b; sid=q8Xz2Lm9Wv4Rt7YpQ1", "q8Xz2Lm9Wv4Rt7YpQ1");
    check_gone("https://x.dev/?access_token=q8Xz2Lm9Wv4Rt7Yp&x=1", "q8Xz2Lm9Wv4Rt7Yp");
    check_gone("https://0a1b2c3d4e5f60718293a4b5@host.dev/", "0a1b2c3d4e5f60718293a4b5");
    check_gone("API key: q8Xz2Lm9Wv4Rt7Yp", "q8Xz2Lm9Wv4Rt7Yp");
    check_gone("\"auth\": \"bWU6aHVudGVyMjI=\"", "bWU6aHVudGVyMjI=");
    check_gone(
        "?sv=2022&sig=aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7%3D",
        "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7",
    );
    check_gone("aws_secret_access_key=/Jalr7UtnF3MI/K7MDENGbPxRfiCYzbcdefgh12", "Jalr7UtnF3MI");
    check_gone("BY-line: IDENTIFIED WITH mysql_native_password BY 'hunter22'", "hunter22");
    check_gone(
        "Private-Lines: 2\nAAAAgHk3Lm9Wv4Rt7Yp1Ks6q8Xz2Lm9Wv4Rt7Yp1Ks6q8Xz2Lm9Wv4Rt7Yp1Ks6\nq8Xz2Lm9Wv4Rt7Yp1Ks6AbCdEfGh\nPrivate-MAC: 1",
        "q8Xz2Lm9Wv4Rt7Yp1Ks6AbCdEfGh",
    );
}

#[test]
fn private_keys_go_line_by_line() {
    let line = |n: usize| format!("Mi{n}E{}", "aB3+/xYz".repeat(7));
    let key = |indent: &str| {
        let lines: Vec<String> = (0..5).map(line).collect();
        let all = ["-----BEGIN RSA PRIVATE KEY-----".to_owned()].into_iter().chain(lines);
        let all = all.chain(["-----END RSA PRIVATE KEY-----".to_owned()]);
        all.map(|line| format!("{indent}{line}\n")).collect::<String>()
    };
    for text in [key(""), key("    "), key("+"), key("   12\t"), key("\"")] {
        check_gone(&format!("before\n{text}after"), &line(3));
    }
    // Only the beginning, and only the end.
    let whole = key("");
    let lines: Vec<&str> = whole.lines().collect();
    check_gone(&lines[..4].join("\n"), &line(2));
    check_gone(&format!("text before\n{}", lines[3..].join("\n")), &line(3));
    // One string of a list for each line.
    let list = serde_json::json!({"lines": whole.lines().collect::<Vec<_>>(), "next": [1]});
    let list = list.to_string();
    let redacted =
        redact_line(Cow::Borrowed(list.as_bytes()), &mut RedactionCounts::default()).into_owned();
    assert!(!String::from_utf8_lossy(&redacted).contains(&line(3)));
    let parsed: serde_json::Value = serde_json::from_slice(&redacted).unwrap();
    assert_eq!(parsed["next"], serde_json::json!([1]));
    // The end of another block, far below in another field, is not the end of this one.
    let far = serde_json::json!({"a": lines[..4].join("\n"), "b": {"c": lines[4..].join("\n")}});
    let far = far.to_string();
    let redacted =
        redact_line(Cow::Borrowed(far.as_bytes()), &mut RedactionCounts::default()).into_owned();
    let parsed: serde_json::Value = serde_json::from_slice(&redacted).unwrap();
    assert!(parsed["b"]["c"].is_string());
    assert!(!parsed.to_string().contains(&line(2)), "{parsed}");
}

#[test]
fn escaped_letters_hide_nothing() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let line = format!(r#"{{"a":"\u0067{}","b":"caf\u00e9 \u0022","c":"\\u0067"}}"#, &token[1..]);
    let redacted =
        redact_line(Cow::Borrowed(line.as_bytes()), &mut RedactionCounts::default()).into_owned();
    let expected = r#"{"a":"[redacted:github-pat]","b":"caf\u00e9 \u0022","c":"\\u0067"}"#;
    assert_eq!(String::from_utf8_lossy(&redacted), expected);
}

#[test]
fn a_mask_shows_no_part_of_the_secret() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let line = format!(r#"{{"a":"{token}","password":"hunter22","mail":"a@b.org"}}"#);
    let mut masks = Vec::new();
    each_secret(line.as_bytes(), Encoding::JsonLine, |finding, secret| {
        masks.push((finding.rule, mask_secret(finding, secret)));
    });
    let expected = [("github-pat", "ghp_… (40 characters)"), ("password", "… (8 characters)")];
    assert_eq!(masks, expected.map(|(rule, mask)| (rule, mask.to_owned())));
}
