//! The shapes of keys and tokens: how they begin and what follows.
//!
//! Names and most shapes are those of gitleaks' default rules: tokens that are recognised by their
//! prefix, and tokens that are recognised by the name of their service. The required lengths are not
//! longer than there, and shorter for keys of model providers: it is better to remove too much.

use std::sync::LazyLock;

/// A set of bytes that a token is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Hex,
    /// Capitals and digits.
    Upper,
    Alphanumeric,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Letters, digits, `+`, `/` and `=`.
    Base64,
    /// `Word`, `.`, `=`, `+` and `/`.
    Any,
    /// `Any`, `~`, `%` and `:`.
    Credential,
    /// `Any` and `@`.
    Url,
}

impl Class {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Self::Any => Self::Word.has(byte) || matches!(byte, b'.' | b'=' | b'+' | b'/'),
            Self::Credential => Self::Any.has(byte) || matches!(byte, b'~' | b'%' | b':'),
            Self::Url => Self::Any.has(byte) || byte == b'@',
        }
    }
}

/// A token that is known by its beginning.
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) prefix: &'static [u8],
    pub(super) class: Class,
    pub(super) length: Length,
}

/// How much must follow the beginning of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Least(usize),
    Exactly(usize),
}

const fn rule(id: &'static str, prefix: &'static str, class: Class, least: usize) -> Rule {
    Rule { id, prefix: prefix.as_bytes(), class, length: Length::Least(least) }
}

const fn exact(id: &'static str, prefix: &'static str, class: Class, length: usize) -> Rule {
    Rule { id, prefix: prefix.as_bytes(), class, length: Length::Exactly(length) }
}

use Class::{Alphanumeric, Any, Hex, Upper, Url, Word};

/// Returns the rules whose tokens begin with a byte, as indices into [`RULES`].
pub(super) fn rules_for(first: u8) -> &'static [usize] {
    static BY_FIRST: LazyLock<Vec<Vec<usize>>> = LazyLock::new(|| {
        let mut by_first = vec![Vec::new(); 256];
        for (index, rule) in RULES.iter().enumerate() {
            by_first[usize::from(rule.prefix[0])].push(index);
        }
        by_first
    });
    &BY_FIRST[usize::from(first)]
}

/// Of two that fit, the first counts.
pub(super) const RULES: &[Rule] = &[
    rule("age-secret-key", "AGE-SECRET-KEY-1", Alphanumeric, 50),
    exact("aws-access-token", "A3T", Upper, 17),
    exact("aws-access-token", "ABIA", Upper, 16),
    exact("octopus-deploy-api-key", "API-", Upper, 26),
    rule("flutterwave-secret-key", "FLWSECK_TEST-", Word, 12),
    rule("new-relic-browser-api-token", "NRJS-", Hex, 19),
    exact("aws-access-token", "ACCA", Upper, 16),
    exact("aws-access-token", "AKIA", Upper, 16),
    exact("aws-access-token", "ASIA", Upper, 16),
    rule("artifactory-api-key", "AKCp", Alphanumeric, 60),
    rule("gcp-api-key", "AIza", Word, 35),
    rule("atlassian-api-token", "ATATT3", Any, 100),
    rule("facebook-page-access-token", "EAAM", Alphanumeric, 100),
    rule("facebook-page-access-token", "EAAC", Alphanumeric, 100),
    rule("square-access-token", "EAAA", Word, 22),
    rule("easypost-api-token", "EZAK", Alphanumeric, 54),
    rule("easypost-test-api-token", "EZTK", Alphanumeric, 54),
    rule("heroku-api-key-v2", "HRKU-AA", Word, 50),
    rule("alibaba-access-key-id", "LTAI", Alphanumeric, 20),
    rule("new-relic-user-api-key", "NRAK-", Alphanumeric, 27),
    rule("new-relic-insert-key", "NRII-", Word, 32),
    rule("postman-api-token", "PMAK-", Word, 50),
    rule("sendgrid-api-token", "SG.", Any, 60),
    exact("twilio-account-sid", "AC", Hex, 32),
    exact("twilio-api-key", "SK", Hex, 32),
    rule("clojars-api-token", "CLOJARS_", Alphanumeric, 60),
    rule("databricks-api-token", "dapi", Hex, 32),
    rule("digitalocean-access-token", "doo_v1_", Hex, 64),
    rule("digitalocean-pat", "dop_v1_", Hex, 64),
    rule("digitalocean-refresh-token", "dor_v1_", Hex, 64),
    rule("doppler-api-token", "dp.pt.", Alphanumeric, 40),
    rule("dynatrace-api-token", "dt0c01.", Any, 80),
    rule("duffel-api-token", "duffel_live_", Word, 40),
    rule("duffel-api-token", "duffel_test_", Word, 40),
    rule("frameio-api-token", "fio-u-", Word, 60),
    rule("flyio-access-token", "fm1a_", Any, 50),
    rule("flyio-access-token", "fm1r_", Any, 50),
    rule("flyio-access-token", "fm2_", Any, 50),
    rule("flyio-access-token", "fo1_", Word, 40),
    rule("github-oauth", "gho_", Alphanumeric, 36),
    rule("github-pat", "ghp_", Alphanumeric, 36),
    rule("github-refresh-token", "ghr_", Alphanumeric, 36),
    rule("github-app-token", "ghs_", Alphanumeric, 36),
    rule("github-app-token", "ghu_", Alphanumeric, 36),
    rule("github-fine-grained-pat", "github_pat_", Word, 60),
    rule("gitlab-kubernetes-agent-token", "glagent-", Word, 40),
    rule("gitlab-cicd-job-token", "glcbt-", Word, 20),
    rule("grafana-cloud-api-token", "glc_", Any, 32),
    rule("gitlab-deploy-token", "gldt-", Word, 20),
    rule("gitlab-feed-token", "glft-", Word, 20),
    rule("gitlab-incoming-mail-token", "glimt-", Word, 20),
    rule("gitlab-oauth-app-secret", "gloas-", Word, 60),
    rule("gitlab-pat", "glpat-", Any, 20),
    rule("gitlab-ptt", "glptt-", Hex, 40),
    rule("gitlab-runner-authentication-token", "glrt-", Any, 20),
    rule("gitlab-rrt", "GR1348941", Word, 20),
    rule("gitlab-feature-flag-client-token", "glffct-", Word, 20),
    rule("grafana-service-account-token", "glsa_", Word, 40),
    rule("gitlab-scim-token", "glsoat-", Word, 20),
    rule("huggingface-access-token", "hf_", Alphanumeric, 30),
    rule("huggingface-organization-api-token", "api_org_", Alphanumeric, 30),
    rule("grafana-api-key", "eyJrIjoi", Any, 70),
    rule("intra42-client-secret", "s-s4t2af-", Hex, 64),
    rule("intra42-client-secret", "s-s4t2ud-", Hex, 64),
    rule("openshift-user-token", "sha256~", Word, 43),
    rule("vault-batch-token", "hvb.", Word, 100),
    rule("vault-service-token", "hvs.", Word, 24),
    rule("infracost-api-token", "ico-", Alphanumeric, 32),
    rule("mailgun-private-api-token", "key-", Hex, 32),
    rule("linear-api-key", "lin_api_", Alphanumeric, 40),
    rule("npm-access-token", "npm_", Alphanumeric, 36),
    rule("notion-api-token", "ntn_", Alphanumeric, 40),
    rule("1password-service-account-token", "ops_eyJ", Any, 100),
    rule("adobe-client-secret", "p8e-", Alphanumeric, 32),
    rule("prefect-api-token", "pnu_", Alphanumeric, 36),
    rule("perplexity-api-key", "pplx-", Alphanumeric, 40),
    rule("planetscale-oauth-token", "pscale_oauth_", Any, 32),
    rule("planetscale-password", "pscale_pw_", Any, 32),
    rule("planetscale-api-token", "pscale_tkn_", Any, 32),
    rule("pulumi-api-token", "pul-", Hex, 40),
    rule("pypi-upload-token", "pypi-AgEIcHlwaS5vcmc", Word, 50),
    rule("readme-api-token", "rdme_", Alphanumeric, 60),
    rule("stripe-access-token", "rk_live_", Alphanumeric, 10),
    rule("stripe-access-token", "rk_prod_", Alphanumeric, 10),
    rule("stripe-access-token", "rk_test_", Alphanumeric, 10),
    rule("rubygems-api-token", "rubygems_", Hex, 48),
    rule("scalingo-api-token", "tk-us-", Word, 48),
    rule("sendinblue-api-token", "xkeysib-", Word, 60),
    rule("sourcegraph-access-token", "sgp_", Word, 40),
    rule("shippo-api-token", "shippo_live_", Hex, 40),
    rule("shippo-api-token", "shippo_test_", Hex, 40),
    rule("shopify-access-token", "shpat_", Hex, 32),
    rule("shopify-custom-access-token", "shpca_", Hex, 32),
    rule("shopify-private-app-access-token", "shppa_", Hex, 32),
    rule("shopify-shared-secret", "shpss_", Hex, 32),
    rule("anthropic-api-key", "sk-ant-", Word, 24),
    rule("openai-api-key", "sk-", Word, 32),
    rule("stripe-access-token", "sk_live_", Alphanumeric, 10),
    rule("stripe-access-token", "sk_prod_", Alphanumeric, 10),
    rule("stripe-access-token", "sk_test_", Alphanumeric, 10),
    rule("settlemint-application-access-token", "sm_aat_", Alphanumeric, 16),
    rule("settlemint-personal-access-token", "sm_pat_", Alphanumeric, 16),
    rule("settlemint-service-access-token", "sm_sat_", Alphanumeric, 16),
    rule("sentry-org-token", "sntrys_", Any, 60),
    rule("sentry-user-token", "sntryu_", Hex, 64),
    rule("square-access-token", "sq0atp-", Word, 22),
    rule("typeform-api-token", "tfp_", Any, 59),
    rule("slack-webhook-url", "hooks.slack.com/services/", Any, 40),
    rule("slack-webhook-url", "hooks.slack.com/triggers/", Any, 40),
    rule("slack-webhook-url", "hooks.slack.com/workflows/", Any, 40),
    rule("microsoft-teams-webhook", "webhook.office.com/webhookb2/", Url, 100),
    rule("harness-api-key", "pat.", Any, 66),
    rule("harness-api-key", "sat.", Any, 66),
    rule("mapbox-api-token", "pk.", Any, 80),
    rule("slack-app-token", "xapp-", Word, 20),
    rule("slack-legacy-workspace-token", "xoxa-", Word, 8),
    rule("slack-bot-token", "xoxb-", Word, 10),
    rule("slack-config-access-token", "xoxe", Any, 20),
    rule("slack-legacy-token", "xoxo-", Word, 10),
    rule("slack-user-token", "xoxp-", Word, 10),
    rule("slack-legacy-workspace-token", "xoxr-", Word, 8),
    rule("slack-legacy-token", "xoxs-", Word, 10),
    rule("1password-secret-key", "A3-", Word, 35),
    rule("airtable-personal-access-token", "pat", Any, 79),
    rule("anyscale-api-key", "esecret_", Alphanumeric, 20),
    rule("artifactory-reference-token", "cmVmd", Alphanumeric, 59),
    rule("asana-personal-access-token", "1/12", Url, 40),
    rule("atlassian-api-token", "ATCTT3", Any, 100),
    rule("aws-amazon-bedrock-api-key", "ABSK", Any, 100),
    rule("aws-amazon-bedrock-api-key", "bedrock-api-key-", Any, 40),
    rule("buildkite-api-token", "bkua_", Hex, 40),
    rule("circleci-personal-access-token", "CCIPAT_", Word, 40),
    exact("clickhouse-cloud-api-secret-key", "4b1d", Alphanumeric, 38),
    rule("cloudflare-origin-ca-key", "v1.0-", Word, 150),
    rule("contentful-personal-access-token", "CFPAT-", Word, 40),
    exact("crates-io-api-token", "cio", Alphanumeric, 32),
    rule("defined-networking-api-token", "dnkey-", Word, 70),
    rule("digitalocean-spaces-key", "DO00", Upper, 16),
    rule("discord-webhook-url", "discord.com/api/webhooks/", Any, 60),
    rule("discord-webhook-url", "discordapp.com/api/webhooks/", Any, 60),
    rule("docker-hub-token", "dckr_oat_", Word, 24),
    rule("docker-hub-token", "dckr_pat_", Word, 24),
    rule("doppler-api-token", "dp.ct.", Alphanumeric, 40),
    rule("doppler-api-token", "dp.sa.", Alphanumeric, 40),
    rule("doppler-api-token", "dp.scim.", Alphanumeric, 40),
    rule("doppler-api-token", "dp.st.", Any, 40),
    rule("dropbox-short-lived-api-token", "sl.", Any, 100),
    rule("facebook-access-token", "EAA", Alphanumeric, 80),
    rule("figma-personal-access-token", "figd_", Word, 30),
    rule("fireworks-api-key", "fw_", Alphanumeric, 22),
    rule("gcp-oauth-access-token", "ya29.", Any, 40),
    rule("gcp-oauth-client-secret", "GOCSPX-", Word, 24),
    rule("gcp-oauth-refresh-token", "1//0", Word, 40),
    rule("groq-api-key", "gsk_", Alphanumeric, 40),
    rule("hubspot-private-app-token", "pat-na1-", Word, 36),
    rule("hubspot-private-app-token", "pat-eu1-", Word, 36),
    rule("jwt-base64", "ZXlK", Any, 80),
    rule("langfuse-secret-key", "sk-lf-", Word, 36),
    rule("langsmith-api-key", "lsv2_pt_", Word, 32),
    rule("langsmith-api-key", "lsv2_sk_", Word, 32),
    rule("neon-api-key", "napi_", Alphanumeric, 40),
    rule("netlify-access-token", "nfp_", Alphanumeric, 30),
    rule("nostr-secret-key", "nsec1", Alphanumeric, 58),
    rule("notion-api-token", "secret_", Alphanumeric, 40),
    rule("nuget-api-key", "oy2", Alphanumeric, 43),
    rule("openrouter-api-key", "sk-or-v1-", Hex, 40),
    rule("pinecone-api-key", "pcsk_", Word, 40),
    rule("plaid-api-token", "access-development-", Word, 36),
    rule("plaid-api-token", "access-production-", Word, 36),
    rule("plaid-api-token", "access-sandbox-", Word, 36),
    rule("pypi-upload-token", "pypi-AgE", Word, 50),
    rule("render-api-key", "rnd_", Alphanumeric, 24),
    rule("replicate-api-token", "r8_", Alphanumeric, 36),
    rule("sonar-api-token", "sqa_", Hex, 40),
    rule("sonar-api-token", "sqp_", Hex, 40),
    rule("sonar-api-token", "squ_", Hex, 40),
    rule("square-access-token", "sq0csp-", Word, 40),
    rule("square-access-token", "sq0idp-", Word, 22),
    rule("stripe-webhook-secret", "whsec_", Any, 24),
    rule("supabase-access-token", "sbp_", Hex, 40),
    rule("supabase-secret-key", "sb_secret_", Word, 22),
    rule("tailscale-key", "tskey-", Word, 24),
    rule("tavily-api-key", "tvly-", Word, 24),
    exact("tencent-cloud-secret-id", "AKID", Alphanumeric, 32),
    exact("vault-service-token", "s.", Alphanumeric, 24),
    rule("vercel-token", "vcp_", Alphanumeric, 24),
    rule("xai-api-key", "xai-", Alphanumeric, 60),
    rule("yandex-api-key", "AQVN", Word, 35),
    exact("yandex-aws-access-token", "YC", Word, 38),
    rule("braintree-access-token", "access_token$production$", Any, 40),
];

/// A token that is recognised by the name of its service.
pub(super) struct Named {
    pub(super) id: &'static str,
    /// Part of the name, in lower case and without `_`, `-` and `.`.
    pub(super) word: &'static str,
    pub(super) shape: Shape,
}

/// What such a token looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// So many of a class, from and to.
    Run(Class, usize, usize),
    Uuid,
}

const fn named(id: &'static str, word: &'static str, class: Class, length: usize) -> Named {
    Named { id, word, shape: Shape::Run(class, length, length) }
}

const fn uuid(id: &'static str, word: &'static str) -> Named {
    Named { id, word, shape: Shape::Uuid }
}

pub(super) const NAMED: &[Named] = &[
    named("adobe-client-id", "adobe", Hex, 32),
    named("adafruit-api-key", "adafruit", Word, 32),
    named("airtable-api-key", "airtable", Alphanumeric, 17),
    named("algolia-api-key", "algolia", Alphanumeric, 32),
    named("alibaba-secret-key", "alibaba", Alphanumeric, 30),
    named("alibaba-secret-key", "aliyun", Alphanumeric, 30),
    named("asana-client-secret", "asana", Alphanumeric, 32),
    named("atlassian-api-token", "atlassian", Alphanumeric, 24),
    named("atlassian-api-token", "confluence", Alphanumeric, 24),
    named("atlassian-api-token", "jira", Alphanumeric, 24),
    named("bitbucket-client-secret", "bitbucket", Any, 64),
    named("bittrex-secret-key", "bittrex", Alphanumeric, 32),
    named("cisco-meraki-api-key", "meraki", Hex, 40),
    named("cloudflare-api-key", "cloudflare", Word, 40),
    named("cloudflare-global-api-key", "cloudflare", Hex, 37),
    named("codecov-access-token", "codecov", Alphanumeric, 32),
    named("cohere-api-token", "cohere", Alphanumeric, 40),
    named("cohere-api-token", "coapikey", Alphanumeric, 40),
    named("coinbase-access-token", "coinbase", Word, 64),
    named("confluent-secret-key", "confluent", Alphanumeric, 64),
    named("confluent-access-token", "confluent", Alphanumeric, 16),
    named("contentful-delivery-api-token", "contentful", Any, 43),
    named("datadog-access-token", "datadog", Alphanumeric, 40),
    named("discord-api-token", "discord", Hex, 64),
    named("discord-client-secret", "discord", Any, 32),
    named("droneci-access-token", "droneci", Alphanumeric, 32),
    named("dropbox-api-token", "dropbox", Alphanumeric, 15),
    named("etsy-access-token", "etsy", Alphanumeric, 24),
    named("facebook-secret", "facebook", Hex, 32),
    named("fastly-api-token", "fastly", Any, 32),
    named("finicity-api-token", "finicity", Hex, 32),
    named("finicity-client-secret", "finicity", Alphanumeric, 20),
    named("finnhub-access-token", "finnhub", Alphanumeric, 20),
    named("flickr-access-token", "flickr", Alphanumeric, 32),
    named("freshbooks-access-token", "freshbooks", Alphanumeric, 64),
    named("gitter-access-token", "gitter", Word, 40),
    uuid("heroku-api-key", "heroku"),
    uuid("hubspot-api-key", "hubspot"),
    named("intercom-api-key", "intercom", Any, 60),
    named("jfrog-api-key", "artifactory", Alphanumeric, 73),
    named("jfrog-api-key", "jfrog", Alphanumeric, 73),
    Named { id: "kraken-access-token", word: "kraken", shape: Shape::Run(Any, 80, 90) },
    named("jfrog-identity-token", "artifactory", Alphanumeric, 64),
    named("jfrog-identity-token", "jfrog", Alphanumeric, 64),
    named("kucoin-access-token", "kucoin", Hex, 24),
    uuid("kucoin-secret-key", "kucoin"),
    named("launchdarkly-access-token", "launchdarkly", Any, 40),
    named("linear-client-secret", "linear", Hex, 32),
    named("linkedin-client-secret", "linkedin", Alphanumeric, 16),
    named("looker-client-secret", "looker", Alphanumeric, 24),
    named("mailchimp-api-key", "mailchimp", Word, 37),
    named("mailgun-signing-key", "mailgun", Word, 50),
    named("mattermost-access-token", "mattermost", Alphanumeric, 26),
    named("messagebird-api-token", "messagebird", Alphanumeric, 25),
    Named { id: "netlify-access-token", word: "netlify", shape: Shape::Run(Any, 40, 46) },
    named("nytimes-access-token", "nytimes", Any, 32),
    named("okta-access-token", "okta", Any, 42),
    named("plaid-secret-key", "plaid", Alphanumeric, 30),
    named("plaid-client-id", "plaid", Alphanumeric, 24),
    named("privateai-api-token", "privateai", Alphanumeric, 32),
    named("rapidapi-access-token", "rapidapi", Word, 50),
    named("sendbird-access-token", "sendbird", Hex, 40),
    named("sentry-access-token", "sentry", Hex, 64),
    uuid("snyk-api-token", "snyk"),
    named("sonar-api-token", "sonar", Any, 40),
    uuid("squarespace-access-token", "squarespace"),
    named("sumologic-access-token", "sumo", Alphanumeric, 64),
    named("travisci-access-token", "travis", Alphanumeric, 22),
    named("trello-access-token", "trello", Word, 32),
    named("twitch-api-token", "twitch", Alphanumeric, 30),
    named("twitter-access-secret", "twitter", Alphanumeric, 45),
    Named { id: "twitter-access-token", word: "twitter", shape: Shape::Run(Word, 36, 66) },
    named("twitter-api-key", "twitter", Alphanumeric, 25),
    named("twitter-api-secret", "twitter", Alphanumeric, 50),
    Named { id: "twitter-bearer-token", word: "twitter", shape: Shape::Run(Any, 102, 122) },
    named("zendesk-secret-key", "zendesk", Alphanumeric, 40),
];
