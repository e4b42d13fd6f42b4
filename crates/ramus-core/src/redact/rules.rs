//! The shapes of keys and tokens: how they begin and what follows.
//!
//! Names and shapes are those of gitleaks' default rules: tokens that are known by
//! their beginning, and those that are known by the name of what they are given to.
//! Where a rule there asks for a length, no more is asked for here, and for keys of
//! models less: it is better to take out too much.

/// What may follow the beginning of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Hex,
    Alphanumeric,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Those, `.`, `=`, `+` and `/`.
    Any,
    /// Those and `@`.
    Url,
}

impl Class {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Any => Self::Word.has(byte) || matches!(byte, b'.' | b'=' | b'+' | b'/'),
            Self::Url => Self::Any.has(byte) || byte == b'@',
        }
    }
}

/// A token that is known by its beginning.
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) prefix: &'static [u8],
    pub(super) class: Class,
    /// How much must follow.
    pub(super) least: usize,
}

const fn rule(id: &'static str, prefix: &'static str, class: Class, least: usize) -> Rule {
    Rule { id, prefix: prefix.as_bytes(), class, least }
}

use Class::{Alphanumeric, Any, Hex, Url, Word};

/// Of two that fit, the first counts.
pub(super) const RULES: &[Rule] = &[
    rule("age-secret-key", "AGE-SECRET-KEY-1", Alphanumeric, 50),
    rule("aws-access-token", "A3T", Alphanumeric, 17),
    rule("aws-access-token", "ABIA", Alphanumeric, 16),
    rule("octopus-deploy-api-key", "API-", Alphanumeric, 26),
    rule("flutterwave-secret-key", "FLWSECK_TEST-", Word, 12),
    rule("new-relic-browser-api-token", "NRJS-", Hex, 19),
    rule("aws-access-token", "ACCA", Alphanumeric, 16),
    rule("aws-access-token", "AKIA", Alphanumeric, 16),
    rule("aws-access-token", "ASIA", Alphanumeric, 16),
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
    rule("twilio-api-key", "SK", Hex, 32),
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
    rule("vault-service-token", "hvs.", Word, 80),
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
];

/// A token that is known by the name of what it is given to.
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
    named("adafruit-api-key", "adafruit", Word, 32),
    named("airtable-api-key", "airtable", Alphanumeric, 17),
    named("algolia-api-key", "algolia", Alphanumeric, 32),
    named("asana-client-secret", "asana", Alphanumeric, 32),
    named("atlassian-api-token", "atlassian", Alphanumeric, 24),
    named("atlassian-api-token", "confluence", Alphanumeric, 24),
    named("atlassian-api-token", "jira", Alphanumeric, 24),
    named("bitbucket-client-secret", "bitbucket", Any, 64),
    named("bittrex-secret-key", "bittrex", Alphanumeric, 32),
    named("cloudflare-api-key", "cloudflare", Word, 40),
    named("cloudflare-global-api-key", "cloudflare", Hex, 37),
    named("codecov-access-token", "codecov", Alphanumeric, 32),
    named("coinbase-access-token", "coinbase", Word, 64),
    named("confluent-secret-key", "confluent", Alphanumeric, 64),
    named("contentful-delivery-api-token", "contentful", Any, 43),
    named("datadog-access-token", "datadog", Alphanumeric, 40),
    named("discord-api-token", "discord", Hex, 64),
    named("discord-client-secret", "discord", Any, 32),
    named("droneci-access-token", "droneci", Alphanumeric, 32),
    named("dropbox-api-token", "dropbox", Alphanumeric, 15),
    named("etsy-access-token", "etsy", Alphanumeric, 24),
    named("facebook-secret", "facebook", Hex, 32),
    named("fastly-api-token", "fastly", Any, 32),
    named("finicity-client-secret", "finicity", Alphanumeric, 20),
    named("finnhub-access-token", "finnhub", Alphanumeric, 20),
    named("freshbooks-access-token", "freshbooks", Alphanumeric, 64),
    named("gitter-access-token", "gitter", Word, 40),
    uuid("heroku-api-key", "heroku"),
    uuid("hubspot-api-key", "hubspot"),
    named("intercom-api-key", "intercom", Any, 60),
    named("jfrog-api-key", "artifactory", Alphanumeric, 73),
    named("jfrog-api-key", "jfrog", Alphanumeric, 73),
    Named { id: "kraken-access-token", word: "kraken", shape: Shape::Run(Any, 80, 90) },
    uuid("kucoin-secret-key", "kucoin"),
    named("launchdarkly-access-token", "launchdarkly", Any, 40),
    named("linear-client-secret", "linear", Hex, 32),
    named("linkedin-client-secret", "linkedin", Alphanumeric, 16),
    named("looker-client-secret", "looker", Alphanumeric, 24),
    named("mailchimp-api-key", "mailchimp", Word, 37),
    named("mattermost-access-token", "mattermost", Alphanumeric, 26),
    named("messagebird-api-token", "messagebird", Alphanumeric, 25),
    Named { id: "netlify-access-token", word: "netlify", shape: Shape::Run(Any, 40, 46) },
    named("nytimes-access-token", "nytimes", Any, 32),
    named("okta-access-token", "okta", Any, 42),
    named("plaid-secret-key", "plaid", Alphanumeric, 30),
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
    named("twitter-api-key", "twitter", Alphanumeric, 25),
    named("twitter-api-secret", "twitter", Alphanumeric, 50),
    Named { id: "twitter-bearer-token", word: "twitter", shape: Shape::Run(Any, 102, 122) },
    named("zendesk-secret-key", "zendesk", Alphanumeric, 40),
];

/// Words that end the name of something secret, in lower case and without `_` and `-`.
pub(super) const SECRET_NAMES: &[&str] = &[
    "apikey",
    "secret",
    "token",
    "password",
    "passwd",
    "pwd",
    "secretkey",
    "accesskey",
    "authkey",
    "clientsecret",
    "privatekey",
    "credential",
    "credentials",
    "passphrase",
];
