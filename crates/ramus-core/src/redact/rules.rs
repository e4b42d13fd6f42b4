//! The shapes of keys and tokens: how they begin and what follows.
//!
//! Names and most shapes are those of gitleaks' default rules: tokens that are recognised by their
//! prefix, and tokens that are recognised by the name of their service. The required lengths are not
//! longer than there, and shorter for keys of model providers: it is better to remove too much.

use std::sync::LazyLock;

/// A set of bytes that a token is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteClass {
    Hex,
    /// Capitals and digits.
    Upper,
    Alphanumeric,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Letters, digits, `+`, `/` and `=`.
    Base64,
    /// `ServerWord`, `.`, `=`, `+` and `/`.
    Any,
    /// `Any`, `~`, `%` and `:`.
    Credential,
    /// `Any` and `@`.
    Url,
}

impl ByteClass {
    pub(super) fn contains(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Self::Any => Self::Word.contains(byte) || matches!(byte, b'.' | b'=' | b'+' | b'/'),
            Self::Credential => Self::Any.contains(byte) || matches!(byte, b'~' | b'%' | b':'),
            Self::Url => Self::Any.contains(byte) || byte == b'@',
        }
    }
}

/// A token that is known by its beginning.
pub(super) struct TokenRule {
    pub(super) id: &'static str,
    pub(super) prefix: &'static [u8],
    pub(super) class: ByteClass,
    pub(super) length: TokenLength,
}

/// How much must follow the beginning of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenLength {
    Least(usize),
    Exactly(usize),
}

const fn token_rule(
    id: &'static str,
    prefix: &'static str,
    class: ByteClass,
    least: usize,
) -> TokenRule {
    TokenRule { id, prefix: prefix.as_bytes(), class, length: TokenLength::Least(least) }
}

const fn exact_rule(
    id: &'static str,
    prefix: &'static str,
    class: ByteClass,
    length: usize,
) -> TokenRule {
    TokenRule { id, prefix: prefix.as_bytes(), class, length: TokenLength::Exactly(length) }
}

use ByteClass::{Alphanumeric, Any, Hex, Upper, Url, Word};

/// Returns the rules whose tokens begin with a byte, as indices into [`TOKEN_RULES`].
pub(super) fn rules_for(first: u8) -> &'static [usize] {
    static BY_FIRST: LazyLock<Vec<Vec<usize>>> = LazyLock::new(|| {
        let mut by_first = vec![Vec::new(); 256];
        for (index, rule) in TOKEN_RULES.iter().enumerate() {
            by_first[usize::from(rule.prefix[0])].push(index);
        }
        by_first
    });
    &BY_FIRST[usize::from(first)]
}

/// Of two that fit, the first counts.
pub(super) const TOKEN_RULES: &[TokenRule] = &[
    token_rule("age-secret-key", "AGE-SECRET-KEY-1", Alphanumeric, 50),
    exact_rule("aws-access-token", "A3T", Upper, 17),
    exact_rule("aws-access-token", "ABIA", Upper, 16),
    exact_rule("octopus-deploy-api-key", "API-", Upper, 26),
    token_rule("flutterwave-secret-key", "FLWSECK_TEST-", Word, 12),
    token_rule("new-relic-browser-api-token", "NRJS-", Hex, 19),
    exact_rule("aws-access-token", "ACCA", Upper, 16),
    exact_rule("aws-access-token", "AKIA", Upper, 16),
    exact_rule("aws-access-token", "ASIA", Upper, 16),
    token_rule("artifactory-api-key", "AKCp", Alphanumeric, 60),
    token_rule("gcp-api-key", "AIza", Word, 35),
    token_rule("atlassian-api-token", "ATATT3", Any, 100),
    token_rule("facebook-page-access-token", "EAAM", Alphanumeric, 100),
    token_rule("facebook-page-access-token", "EAAC", Alphanumeric, 100),
    token_rule("square-access-token", "EAAA", Word, 22),
    token_rule("easypost-api-token", "EZAK", Alphanumeric, 54),
    token_rule("easypost-test-api-token", "EZTK", Alphanumeric, 54),
    token_rule("heroku-api-key-v2", "HRKU-AA", Word, 50),
    token_rule("alibaba-access-key-id", "LTAI", Alphanumeric, 20),
    token_rule("new-relic-user-api-key", "NRAK-", Alphanumeric, 27),
    token_rule("new-relic-insert-key", "NRII-", Word, 32),
    token_rule("postman-api-token", "PMAK-", Word, 50),
    token_rule("sendgrid-api-token", "SG.", Any, 60),
    exact_rule("twilio-account-sid", "AC", Hex, 32),
    exact_rule("twilio-api-key", "SK", Hex, 32),
    token_rule("clojars-api-token", "CLOJARS_", Alphanumeric, 60),
    token_rule("databricks-api-token", "dapi", Hex, 32),
    token_rule("digitalocean-access-token", "doo_v1_", Hex, 64),
    token_rule("digitalocean-pat", "dop_v1_", Hex, 64),
    token_rule("digitalocean-refresh-token", "dor_v1_", Hex, 64),
    token_rule("doppler-api-token", "dp.pt.", Alphanumeric, 40),
    token_rule("dynatrace-api-token", "dt0c01.", Any, 80),
    token_rule("duffel-api-token", "duffel_live_", Word, 40),
    token_rule("duffel-api-token", "duffel_test_", Word, 40),
    token_rule("frameio-api-token", "fio-u-", Word, 60),
    token_rule("flyio-access-token", "fm1a_", Any, 50),
    token_rule("flyio-access-token", "fm1r_", Any, 50),
    token_rule("flyio-access-token", "fm2_", Any, 50),
    token_rule("flyio-access-token", "fo1_", Word, 40),
    token_rule("github-oauth", "gho_", Alphanumeric, 36),
    token_rule("github-pat", "ghp_", Alphanumeric, 36),
    token_rule("github-refresh-token", "ghr_", Alphanumeric, 36),
    token_rule("github-app-token", "ghs_", Alphanumeric, 36),
    token_rule("github-app-token", "ghu_", Alphanumeric, 36),
    token_rule("github-fine-grained-pat", "github_pat_", Word, 60),
    token_rule("gitlab-kubernetes-agent-token", "glagent-", Word, 40),
    token_rule("gitlab-cicd-job-token", "glcbt-", Word, 20),
    token_rule("grafana-cloud-api-token", "glc_", Any, 32),
    token_rule("gitlab-deploy-token", "gldt-", Word, 20),
    token_rule("gitlab-feed-token", "glft-", Word, 20),
    token_rule("gitlab-incoming-mail-token", "glimt-", Word, 20),
    token_rule("gitlab-oauth-app-secret", "gloas-", Word, 60),
    token_rule("gitlab-pat", "glpat-", Any, 20),
    token_rule("gitlab-ptt", "glptt-", Hex, 40),
    token_rule("gitlab-runner-authentication-token", "glrt-", Any, 20),
    token_rule("gitlab-rrt", "GR1348941", Word, 20),
    token_rule("gitlab-feature-flag-client-token", "glffct-", Word, 20),
    token_rule("grafana-service-account-token", "glsa_", Word, 40),
    token_rule("gitlab-scim-token", "glsoat-", Word, 20),
    token_rule("huggingface-access-token", "hf_", Alphanumeric, 30),
    token_rule("huggingface-organization-api-token", "api_org_", Alphanumeric, 30),
    token_rule("grafana-api-key", "eyJrIjoi", Any, 70),
    token_rule("intra42-client-secret", "s-s4t2af-", Hex, 64),
    token_rule("intra42-client-secret", "s-s4t2ud-", Hex, 64),
    token_rule("openshift-user-token", "sha256~", Word, 43),
    token_rule("vault-batch-token", "hvb.", Word, 100),
    token_rule("vault-service-token", "hvs.", Word, 24),
    token_rule("infracost-api-token", "ico-", Alphanumeric, 32),
    token_rule("mailgun-private-api-token", "key-", Hex, 32),
    token_rule("linear-api-key", "lin_api_", Alphanumeric, 40),
    token_rule("npm-access-token", "npm_", Alphanumeric, 36),
    token_rule("notion-api-token", "ntn_", Alphanumeric, 40),
    token_rule("1password-service-account-token", "ops_eyJ", Any, 100),
    token_rule("adobe-client-secret", "p8e-", Alphanumeric, 32),
    token_rule("prefect-api-token", "pnu_", Alphanumeric, 36),
    token_rule("perplexity-api-key", "pplx-", Alphanumeric, 40),
    token_rule("planetscale-oauth-token", "pscale_oauth_", Any, 32),
    token_rule("planetscale-password", "pscale_pw_", Any, 32),
    token_rule("planetscale-api-token", "pscale_tkn_", Any, 32),
    token_rule("pulumi-api-token", "pul-", Hex, 40),
    token_rule("pypi-upload-token", "pypi-AgEIcHlwaS5vcmc", Word, 50),
    token_rule("readme-api-token", "rdme_", Alphanumeric, 60),
    token_rule("stripe-access-token", "rk_live_", Alphanumeric, 10),
    token_rule("stripe-access-token", "rk_prod_", Alphanumeric, 10),
    token_rule("stripe-access-token", "rk_test_", Alphanumeric, 10),
    token_rule("rubygems-api-token", "rubygems_", Hex, 48),
    token_rule("scalingo-api-token", "tk-us-", Word, 48),
    token_rule("sendinblue-api-token", "xkeysib-", Word, 60),
    token_rule("sourcegraph-access-token", "sgp_", Word, 40),
    token_rule("shippo-api-token", "shippo_live_", Hex, 40),
    token_rule("shippo-api-token", "shippo_test_", Hex, 40),
    token_rule("shopify-access-token", "shpat_", Hex, 32),
    token_rule("shopify-custom-access-token", "shpca_", Hex, 32),
    token_rule("shopify-private-app-access-token", "shppa_", Hex, 32),
    token_rule("shopify-shared-secret", "shpss_", Hex, 32),
    token_rule("anthropic-api-key", "sk-ant-", Word, 24),
    token_rule("openai-api-key", "sk-", Word, 32),
    token_rule("stripe-access-token", "sk_live_", Alphanumeric, 10),
    token_rule("stripe-access-token", "sk_prod_", Alphanumeric, 10),
    token_rule("stripe-access-token", "sk_test_", Alphanumeric, 10),
    token_rule("settlemint-application-access-token", "sm_aat_", Alphanumeric, 16),
    token_rule("settlemint-personal-access-token", "sm_pat_", Alphanumeric, 16),
    token_rule("settlemint-service-access-token", "sm_sat_", Alphanumeric, 16),
    token_rule("sentry-org-token", "sntrys_", Any, 60),
    token_rule("sentry-user-token", "sntryu_", Hex, 64),
    token_rule("square-access-token", "sq0atp-", Word, 22),
    token_rule("typeform-api-token", "tfp_", Any, 59),
    token_rule("slack-webhook-url", "hooks.slack.com/services/", Any, 40),
    token_rule("slack-webhook-url", "hooks.slack.com/triggers/", Any, 40),
    token_rule("slack-webhook-url", "hooks.slack.com/workflows/", Any, 40),
    token_rule("microsoft-teams-webhook", "webhook.office.com/webhookb2/", Url, 100),
    token_rule("harness-api-key", "pat.", Any, 66),
    token_rule("harness-api-key", "sat.", Any, 66),
    token_rule("mapbox-api-token", "pk.", Any, 80),
    token_rule("slack-app-token", "xapp-", Word, 20),
    token_rule("slack-legacy-workspace-token", "xoxa-", Word, 8),
    token_rule("slack-bot-token", "xoxb-", Word, 10),
    token_rule("slack-config-access-token", "xoxe", Any, 20),
    token_rule("slack-legacy-token", "xoxo-", Word, 10),
    token_rule("slack-user-token", "xoxp-", Word, 10),
    token_rule("slack-legacy-workspace-token", "xoxr-", Word, 8),
    token_rule("slack-legacy-token", "xoxs-", Word, 10),
    token_rule("1password-secret-key", "A3-", Word, 35),
    token_rule("airtable-personal-access-token", "pat", Any, 79),
    token_rule("anyscale-api-key", "esecret_", Alphanumeric, 20),
    token_rule("artifactory-reference-token", "cmVmd", Alphanumeric, 59),
    token_rule("asana-personal-access-token", "1/12", Url, 40),
    token_rule("atlassian-api-token", "ATCTT3", Any, 100),
    token_rule("aws-amazon-bedrock-api-key", "ABSK", Any, 100),
    token_rule("aws-amazon-bedrock-api-key", "bedrock-api-key-", Any, 40),
    token_rule("buildkite-api-token", "bkua_", Hex, 40),
    token_rule("circleci-personal-access-token", "CCIPAT_", Word, 40),
    exact_rule("clickhouse-cloud-api-secret-key", "4b1d", Alphanumeric, 38),
    token_rule("cloudflare-origin-ca-key", "v1.0-", Word, 150),
    token_rule("contentful-personal-access-token", "CFPAT-", Word, 40),
    exact_rule("crates-io-api-token", "cio", Alphanumeric, 32),
    token_rule("defined-networking-api-token", "dnkey-", Word, 70),
    token_rule("digitalocean-spaces-key", "DO00", Upper, 16),
    token_rule("discord-webhook-url", "discord.com/api/webhooks/", Any, 60),
    token_rule("discord-webhook-url", "discordapp.com/api/webhooks/", Any, 60),
    token_rule("docker-hub-token", "dckr_oat_", Word, 24),
    token_rule("docker-hub-token", "dckr_pat_", Word, 24),
    token_rule("doppler-api-token", "dp.ct.", Alphanumeric, 40),
    token_rule("doppler-api-token", "dp.sa.", Alphanumeric, 40),
    token_rule("doppler-api-token", "dp.scim.", Alphanumeric, 40),
    token_rule("doppler-api-token", "dp.st.", Any, 40),
    token_rule("dropbox-short-lived-api-token", "sl.", Any, 100),
    token_rule("facebook-access-token", "EAA", Alphanumeric, 80),
    token_rule("figma-personal-access-token", "figd_", Word, 30),
    token_rule("fireworks-api-key", "fw_", Alphanumeric, 22),
    token_rule("gcp-oauth-access-token", "ya29.", Any, 40),
    token_rule("gcp-oauth-client-secret", "GOCSPX-", Word, 24),
    token_rule("gcp-oauth-refresh-token", "1//0", Word, 40),
    token_rule("groq-api-key", "gsk_", Alphanumeric, 40),
    token_rule("hubspot-private-app-token", "pat-na1-", Word, 36),
    token_rule("hubspot-private-app-token", "pat-eu1-", Word, 36),
    token_rule("jwt-base64", "ZXlK", Any, 80),
    token_rule("langfuse-secret-key", "sk-lf-", Word, 36),
    token_rule("langsmith-api-key", "lsv2_pt_", Word, 32),
    token_rule("langsmith-api-key", "lsv2_sk_", Word, 32),
    token_rule("neon-api-key", "napi_", Alphanumeric, 40),
    token_rule("netlify-access-token", "nfp_", Alphanumeric, 30),
    token_rule("nostr-secret-key", "nsec1", Alphanumeric, 58),
    token_rule("notion-api-token", "secret_", Alphanumeric, 40),
    token_rule("nuget-api-key", "oy2", Alphanumeric, 43),
    token_rule("openrouter-api-key", "sk-or-v1-", Hex, 40),
    token_rule("pinecone-api-key", "pcsk_", Word, 40),
    token_rule("plaid-api-token", "access-development-", Word, 36),
    token_rule("plaid-api-token", "access-production-", Word, 36),
    token_rule("plaid-api-token", "access-sandbox-", Word, 36),
    token_rule("pypi-upload-token", "pypi-AgE", Word, 50),
    token_rule("render-api-key", "rnd_", Alphanumeric, 24),
    token_rule("replicate-api-token", "r8_", Alphanumeric, 36),
    token_rule("sonar-api-token", "sqa_", Hex, 40),
    token_rule("sonar-api-token", "sqp_", Hex, 40),
    token_rule("sonar-api-token", "squ_", Hex, 40),
    token_rule("square-access-token", "sq0csp-", Word, 40),
    token_rule("square-access-token", "sq0idp-", Word, 22),
    token_rule("stripe-webhook-secret", "whsec_", Any, 24),
    token_rule("supabase-access-token", "sbp_", Hex, 40),
    token_rule("supabase-secret-key", "sb_secret_", Word, 22),
    token_rule("tailscale-key", "tskey-", Word, 24),
    token_rule("tavily-api-key", "tvly-", Word, 24),
    exact_rule("tencent-cloud-secret-id", "AKID", Alphanumeric, 32),
    exact_rule("vault-service-token", "s.", Alphanumeric, 24),
    token_rule("vercel-token", "vcp_", Alphanumeric, 24),
    token_rule("xai-api-key", "xai-", Alphanumeric, 60),
    token_rule("yandex-api-key", "AQVN", Word, 35),
    exact_rule("yandex-aws-access-token", "YC", Word, 38),
    token_rule("braintree-access-token", "access_token$production$", Any, 40),
];

/// A token that is recognised by the name of its service.
pub(super) struct ServiceRule {
    pub(super) id: &'static str,
    /// Part of the name, in lower case and without `_`, `-` and `.`.
    pub(super) word: &'static str,
    pub(super) shape: TokenShape,
}

/// The form of the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenShape {
    /// So many of a class, from and to.
    Run(ByteClass, usize, usize),
    Uuid,
}

const fn service_token(
    id: &'static str,
    word: &'static str,
    class: ByteClass,
    length: usize,
) -> ServiceRule {
    ServiceRule { id, word, shape: TokenShape::Run(class, length, length) }
}

const fn service_uuid(id: &'static str, word: &'static str) -> ServiceRule {
    ServiceRule { id, word, shape: TokenShape::Uuid }
}

pub(super) const SERVICE_RULES: &[ServiceRule] = &[
    service_token("adobe-client-id", "adobe", Hex, 32),
    service_token("adafruit-api-key", "adafruit", Word, 32),
    service_token("airtable-api-key", "airtable", Alphanumeric, 17),
    service_token("algolia-api-key", "algolia", Alphanumeric, 32),
    service_token("alibaba-secret-key", "alibaba", Alphanumeric, 30),
    service_token("alibaba-secret-key", "aliyun", Alphanumeric, 30),
    service_token("asana-client-secret", "asana", Alphanumeric, 32),
    service_token("atlassian-api-token", "atlassian", Alphanumeric, 24),
    service_token("atlassian-api-token", "confluence", Alphanumeric, 24),
    service_token("atlassian-api-token", "jira", Alphanumeric, 24),
    service_token("bitbucket-client-secret", "bitbucket", Any, 64),
    service_token("bittrex-secret-key", "bittrex", Alphanumeric, 32),
    service_token("cisco-meraki-api-key", "meraki", Hex, 40),
    service_token("cloudflare-api-key", "cloudflare", Word, 40),
    service_token("cloudflare-global-api-key", "cloudflare", Hex, 37),
    service_token("codecov-access-token", "codecov", Alphanumeric, 32),
    service_token("cohere-api-token", "cohere", Alphanumeric, 40),
    service_token("cohere-api-token", "coapikey", Alphanumeric, 40),
    service_token("coinbase-access-token", "coinbase", Word, 64),
    service_token("confluent-secret-key", "confluent", Alphanumeric, 64),
    service_token("confluent-access-token", "confluent", Alphanumeric, 16),
    service_token("contentful-delivery-api-token", "contentful", Any, 43),
    service_token("datadog-access-token", "datadog", Alphanumeric, 40),
    service_token("discord-api-token", "discord", Hex, 64),
    service_token("discord-client-secret", "discord", Any, 32),
    service_token("droneci-access-token", "droneci", Alphanumeric, 32),
    service_token("dropbox-api-token", "dropbox", Alphanumeric, 15),
    service_token("etsy-access-token", "etsy", Alphanumeric, 24),
    service_token("facebook-secret", "facebook", Hex, 32),
    service_token("fastly-api-token", "fastly", Any, 32),
    service_token("finicity-api-token", "finicity", Hex, 32),
    service_token("finicity-client-secret", "finicity", Alphanumeric, 20),
    service_token("finnhub-access-token", "finnhub", Alphanumeric, 20),
    service_token("flickr-access-token", "flickr", Alphanumeric, 32),
    service_token("freshbooks-access-token", "freshbooks", Alphanumeric, 64),
    service_token("gitter-access-token", "gitter", Word, 40),
    service_uuid("heroku-api-key", "heroku"),
    service_uuid("hubspot-api-key", "hubspot"),
    service_token("intercom-api-key", "intercom", Any, 60),
    service_token("jfrog-api-key", "artifactory", Alphanumeric, 73),
    service_token("jfrog-api-key", "jfrog", Alphanumeric, 73),
    ServiceRule { id: "kraken-access-token", word: "kraken", shape: TokenShape::Run(Any, 80, 90) },
    service_token("jfrog-identity-token", "artifactory", Alphanumeric, 64),
    service_token("jfrog-identity-token", "jfrog", Alphanumeric, 64),
    service_token("kucoin-access-token", "kucoin", Hex, 24),
    service_uuid("kucoin-secret-key", "kucoin"),
    service_token("launchdarkly-access-token", "launchdarkly", Any, 40),
    service_token("linear-client-secret", "linear", Hex, 32),
    service_token("linkedin-client-secret", "linkedin", Alphanumeric, 16),
    service_token("looker-client-secret", "looker", Alphanumeric, 24),
    service_token("mailchimp-api-key", "mailchimp", Word, 37),
    service_token("mailgun-signing-key", "mailgun", Word, 50),
    service_token("mattermost-access-token", "mattermost", Alphanumeric, 26),
    service_token("messagebird-api-token", "messagebird", Alphanumeric, 25),
    ServiceRule {
        id: "netlify-access-token",
        word: "netlify",
        shape: TokenShape::Run(Any, 40, 46),
    },
    service_token("nytimes-access-token", "nytimes", Any, 32),
    service_token("okta-access-token", "okta", Any, 42),
    service_token("plaid-secret-key", "plaid", Alphanumeric, 30),
    service_token("plaid-client-id", "plaid", Alphanumeric, 24),
    service_token("privateai-api-token", "privateai", Alphanumeric, 32),
    service_token("rapidapi-access-token", "rapidapi", Word, 50),
    service_token("sendbird-access-token", "sendbird", Hex, 40),
    service_token("sentry-access-token", "sentry", Hex, 64),
    service_uuid("snyk-api-token", "snyk"),
    service_token("sonar-api-token", "sonar", Any, 40),
    service_uuid("squarespace-access-token", "squarespace"),
    service_token("sumologic-access-token", "sumo", Alphanumeric, 64),
    service_token("travisci-access-token", "travis", Alphanumeric, 22),
    service_token("trello-access-token", "trello", Word, 32),
    service_token("twitch-api-token", "twitch", Alphanumeric, 30),
    service_token("twitter-access-secret", "twitter", Alphanumeric, 45),
    ServiceRule {
        id: "twitter-access-token",
        word: "twitter",
        shape: TokenShape::Run(Word, 36, 66),
    },
    service_token("twitter-api-key", "twitter", Alphanumeric, 25),
    service_token("twitter-api-secret", "twitter", Alphanumeric, 50),
    ServiceRule {
        id: "twitter-bearer-token",
        word: "twitter",
        shape: TokenShape::Run(Any, 102, 122),
    },
    service_token("zendesk-secret-key", "zendesk", Alphanumeric, 40),
];
