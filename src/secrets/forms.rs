//! Secrets in the form of their issuer: a fixed word and the characters around it.
//!
//! The forms are from the issuers' documentation and from the lists that gitleaks and GitHub publish.

use super::Secret;
use super::random;
use super::runs::{Class, Runs, is_word, starts_a_word};
use Class::{Alnum, Base64, Capitals, Digit, Dotted, Hex, Path, Word};

pub(super) struct Form {
    pub(super) what: &'static str,
    pub(super) words: &'static [&'static str],
    /// What precedes the word, and its minimum and maximum length.
    before: Option<(Class, usize, usize)>,
    tail: Class,
    /// The minimum and maximum length of the tail.
    len: (usize, usize),
}

impl Form {
    pub(super) fn is_prefix(&self) -> bool {
        self.before.is_none()
    }
}

/// No token is longer. Microsoft's and Facebook's come close.
const MAX_TAIL: usize = 2048;

const fn form(what: &'static str, words: &'static [&'static str], tail: Class, min: usize) -> Form {
    Form { what, words, before: None, tail, len: (min, MAX_TAIL) }
}

const fn exact(what: &'static str, words: &'static [&'static str], tail: Class, len: usize) -> Form {
    Form { what, words, before: None, tail, len: (len, len) }
}

const fn infix(
    what: &'static str,
    before: (Class, usize, usize),
    words: &'static [&'static str],
    tail: Class,
    len: (usize, usize),
) -> Form {
    Form { what, words, before: Some(before), tail, len }
}

#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    exact("an AWS access key", &["AKIA", "ASIA"], Capitals, 16),
    form("an AWS Bedrock key", &["ABSK"], Base64, 100),
    form("an AWS session token", &["IQoJb3JpZ2luX2Vj", "FwoGZXIvYXdz"], Base64, 100),
    form("an Amazon secret", &["amzn.mws.", "amzn1.oa2-cs.v1."], Word, 36),
    form("an Anthropic key", &["sk-ant-"], Word, 20),
    form("an OpenAI key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], Word, 20),
    form("an OpenAI key", &["sk-"], Alnum, 48),
    form("an OpenRouter key", &["sk-or-v1-"], Word, 32),
    exact("a DeepSeek key", &["sk-"], Hex, 32),
    exact("an ElevenLabs key", &["sk_"], Hex, 48),
    form("a Langfuse key", &["sk-lf-"], Word, 36),
    form("a Helicone key", &["sk-helicone-"], Word, 20),
    form("a GitHub token", &["ghp_", "gho_", "ghs_", "ghu_", "ghr_"], Alnum, 36),
    form("a GitHub token", &["github_pat_"], Word, 40),
    form("a GitLab token", &["glpat-", "glrt-", "gldt-", "glptt-", "glft-", "glsoat-", "glffct-", "glcbt-", "glimt-", "glagent-", "gloas-", "GR1348941"], Dotted, 20),
    form("a Google key", &["AIza", "AQ.Ab8"], Word, 35),
    form("a Google token", &["ya29."], Word, 40),
    form("a Google token", &["1//0"], Word, 40),
    form("a Google secret", &["GOCSPX-"], Word, 28),
    form("a Slack token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xoxe.xox", "xapp-"], Word, 20),
    form("a Slack webhook", &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"], Path, 40),
    form("a Discord webhook", &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"], Path, 70),
    form("a Teams webhook", &["webhook.office.com/webhookb2/"], Path, 100),
    form("a Stripe key", &["sk_live_", "rk_live_", "sk_test_", "rk_test_"], Alnum, 20),
    form("a webhook secret", &["whsec_"], Base64, 32),
    form("an npm token", &["npm_"], Alnum, 36),
    form("a PyPI token", &["pypi-AgEIcHlwaS5vcmc"], Word, 20),
    form("a Hugging Face token", &["hf_", "api_org_"], Alnum, 34),
    form("a SendGrid key", &["SG."], Dotted, 60),
    form("a Groq key", &["gsk_"], Alnum, 48),
    form("an xAI key", &["xai-"], Alnum, 70),
    form("a Perplexity key", &["pplx-"], Alnum, 40),
    form("a Replicate token", &["r8_"], Alnum, 37),
    form("a DigitalOcean token", &["dop_v1_", "doo_v1_", "dor_v1_"], Alnum, 60),
    form("a Shopify token", &["shpat_", "shpca_", "shppa_", "shpss_"], Alnum, 32),
    form("a Docker token", &["dckr_pat_", "dckr_oat_"], Word, 27),
    form("a Vault token", &["hvs.", "hvb.", "hvr."], Word, 24),
    form("a Linear key", &["lin_api_"], Alnum, 40),
    form("a Databricks token", &["dapi"], Alnum, 32),
    form("a Postman key", &["PMAK-"], Word, 50),
    form("a Sentry token", &["sntrys_", "sntryu_"], Base64, 40),
    form("a PlanetScale token", &["pscale_tkn_", "pscale_oauth_", "pscale_pw_"], Dotted, 32),
    form("a Tailscale key", &["tskey-"], Word, 20),
    form("an age key", &["AGE-SECRET-KEY-1"], Alnum, 58),
    form("a 1Password token", &["ops_eyJ"], Base64, 200),
    exact("a 1Password key", &["A3-"], Word, 37),
    form("an Adobe secret", &["p8e-"], Alnum, 32),
    exact("an Airtable token", &["pat"], Dotted, 79),
    exact("a Harness token", &["pat.", "sat."], Dotted, 68),
    exact("an Alibaba key", &["LTAI"], Alnum, 20),
    exact("an Artifactory token", &["AKCp"], Alnum, 69),
    exact("an Artifactory token", &["cmVmd"], Alnum, 59),
    form("an Atlassian token", &["ATATT3", "ATCTT3"], Path, 100),
    exact("a Bitbucket password", &["ATBB"], Alnum, 32),
    form("a Brevo key", &["xkeysib-", "xsmtpsib-"], Word, 60),
    form("a Buildkite token", &["bkua_"], Alnum, 40),
    form("a CircleCI token", &["CCIPAT_", "CCIPRJ_"], Word, 40),
    exact("a ClickHouse key", &["4b1d"], Alnum, 38),
    form("a Clojars token", &["CLOJARS_"], Alnum, 60),
    form("a Cloudflare key", &["v1.0-"], Word, 160),
    form("a Contentful token", &["CFPAT-"], Word, 40),
    form("a Doppler token", &["dp.pt.", "dp.st.", "dp.sa."], Dotted, 40),
    form("a Duffel token", &["duffel_live_", "duffel_test_"], Word, 40),
    form("a Dynatrace token", &["dt0c01.", "dt0s16."], Dotted, 80),
    exact("an EasyPost key", &["EZAK", "EZTK"], Alnum, 54),
    form("a Facebook token", &["EAAB", "EAAC", "EAAG", "EAAM", "IGAA", "IGQV"], Alnum, 100),
    form("a Figma token", &["figd_"], Word, 40),
    form("a Firecrawl key", &["fc-"], Hex, 32),
    form("a Flutterwave key", &["FLWSECK-", "FLWSECK_TEST-"], Word, 32),
    form("a Fly.io token", &["fm2_", "fm1r_", "fm1a_"], Base64, 40),
    form("a Fly.io token", &["fo1_"], Word, 43),
    form("a Frame.io token", &["fio-u-"], Word, 60),
    form("a Grafana token", &["glsa_"], Word, 40),
    form("a Grafana token", &["glc_"], Base64, 40),
    form("a Heroku key", &["HRKU-AA"], Word, 50),
    form("a HubSpot token", &["pat-na1-", "pat-eu1-", "pat-na2-"], Word, 36),
    form("an Infracost key", &["ico-"], Alnum, 32),
    form("a LangSmith key", &["lsv2_pt_", "lsv2_sk_"], Word, 40),
    exact("a LaunchDarkly key", &["sdk-"], Word, 36),
    exact("a Mailgun key", &["key-"], Hex, 32),
    form("a MailerSend key", &["mlsn."], Alnum, 60),
    form("a Mapbox token", &["sk.eyJ"], Dotted, 60),
    form("a Neon key", &["napi_"], Alnum, 60),
    form("a New Relic key", &["NRAK-", "NRII-"], Word, 27),
    form("a Notion token", &["ntn_"], Alnum, 40),
    exact("a Notion token", &["secret_"], Alnum, 43),
    exact("a NuGet key", &["oy2"], Alnum, 43),
    form("an NVIDIA key", &["nvapi-"], Word, 60),
    exact("an Octopus key", &["API-"], Capitals, 26),
    exact("an OpenShift token", &["sha256~"], Word, 43),
    form("a Pinecone key", &["pcsk_"], Word, 60),
    form("a Plaid token", &["access-production-", "access-development-", "access-sandbox-"], Word, 36),
    form("a Prefect key", &["pnu_"], Alnum, 36),
    form("a Pulumi token", &["pul-"], Hex, 40),
    form("a ReadMe key", &["rdme_"], Alnum, 70),
    exact("a Resend key", &["re_"], Word, 33),
    form("a RubyGems key", &["rubygems_"], Hex, 48),
    form("a Scalingo token", &["tk-us-"], Word, 48),
    form("a Shippo key", &["shippo_live_", "shippo_test_"], Hex, 40),
    form("a SonarQube token", &["squ_", "sqp_", "sqa_"], Hex, 40),
    form("a Sourcegraph token", &["sgp_"], Word, 40),
    form("a Square token", &["sq0csp-", "sq0atp-"], Word, 22),
    form("a Supabase key", &["sbp_", "sb_secret_"], Word, 30),
    form("a Tavily key", &["tvly-"], Word, 32),
    exact("a Twilio key", &["SK"], Hex, 32),
    form("a Typeform token", &["tfp_"], Word, 40),
    form("a Yandex key", &["AQVN"], Word, 35),
    exact("an Adafruit key", &["aio_"], Alnum, 28),
    form("an Alchemy key", &["alchemy.com/v2/"], Word, 32),
    form("an Apify token", &["apify_api_"], Alnum, 36),
    exact("an Axiom token", &["xaat-", "xapt-"], Word, 36),
    form("a Baidu key", &["bce-v3/ALTAK-"], Path, 50),
    form("a Browserbase key", &["bb_live_"], Word, 24),
    form("a Cerebras key", &["csk-"], Alnum, 48),
    exact("a Confluent secret", &["cflt"], Base64, 60),
    exact("a crates.io token", &["cio"], Alnum, 32),
    form("a Daytona key", &["dtn_"], Hex, 64),
    form("a Defined Networking key", &["dnkey-"], Word, 60),
    exact("a Deno token", &["ddp_", "ddo_"], Alnum, 36),
    form("a Dropbox token", &["sl.", "sl.u."], Word, 120),
    form("an E2B key", &["e2b_"], Hex, 40),
    form("an Elastic key", &["essu_"], Base64, 40),
    form("a Grafana key", &["eyJrIjoi"], Base64, 70),
    form("a Honeycomb key", &["hcaik_", "hcbik_", "hcalk_"], Alnum, 50),
    form("an Infura key", &["infura.io/v3/"], Hex, 32),
    form("an Inngest key", &["signkey-prod-"], Hex, 32),
    form("a Jina key", &["jina_"], Alnum, 50),
    form("a Logfire token", &["pylf_v1_"], Word, 40),
    exact("a Modal secret", &["as-"], Alnum, 22),
    exact("a NATS seed", &["SUA", "SAA", "SOA"], Capitals, 55),
    exact("a Netlify token", &["nfp_", "nfc_", "nfo_", "nfu_"], Alnum, 36),
    form("a Nylas key", &["nyk_v0_"], Alnum, 40),
    form("an Open VSX token", &["ovsxat_"], Word, 36),
    form("an Ory key", &["ory_pat_", "ory_at_", "ory_st_"], Word, 32),
    form("a Paddle key", &["pdl_live_apikey_", "pdl_sdbx_apikey_"], Word, 40),
    form("a Polar token", &["polar_oat_", "polar_pat_"], Word, 30),
    form("a Rootly key", &["rootly_"], Hex, 60),
    form("a Snyk token", &["snyk_uat.", "snyk_sat."], Dotted, 50),
    exact("a Tencent key", &["AKID"], Alnum, 32),
    form("a Together key", &["tgp_v1_"], Word, 40),
    exact("a Trello token", &["ATTA"], Alnum, 72),
    form("a Trigger.dev key", &["tr_prod_", "tr_dev_"], Alnum, 20),
    form("a Vercel token", &["vercel_blob_rw_", "vck_", "vcp_", "vca_", "vci_", "vcr_"], Word, 40),
    form("a Volcengine key", &["AKLT"], Base64, 40),
    exact("a Voyage key", &["pa-"], Word, 43),
    exact("a WakaTime key", &["waka_"], Word, 36),
    form("a Xata key", &["xau_"], Alnum, 36),
    infix("an Azure secret", (Dotted, 4, 4), &["Q~"], Path, (31, 40)),
    infix("an Azure key", (Alnum, 52, 52), &["JQQJ99"], Alnum, (26, 26)),
    infix("an Azure Functions key", (Word, 44, 44), &["AzFu"], Path, (8, 8)),
    infix("a Firebase key", (Word, 11, 11), &[":APA91b"], Word, (120, 160)),
    infix("a Salesforce token", (Alnum, 15, 18), &["!AQ"], Dotted, (60, 200)),
    infix("an Azure DevOps token", (Alnum, 76, 76), &["AZDO"], Alnum, (4, 4)),
    infix("a Mailchimp key", (Hex, 32, 32), &["-us"], Digit, (1, 2)),
    infix("a MaxMind key", (Word, 36, 36), &["_mmk"], Word, (0, 0)),
    infix("a Telegram token", (Digit, 8, 12), &[":AA"], Word, (33, 33)),
    infix("a Terraform token", (Alnum, 14, 14), &[".atlasv1."], Word, (60, 70)),
];

/// The token around the word at `at`. The text at `at` has the word in any case.
pub(super) fn of_form(runs: &mut Runs<'_>, form: &Form, word: &str, at: usize) -> Option<Secret> {
    let text = runs.text;
    let end = at + word.len();
    if text[at..end] != *word.as_bytes() {
        return None;
    }
    let start = match form.before {
        None => at,
        Some((class, min, max)) => {
            let len = text[..at].iter().rev().take(max + 1).take_while(|b| class.has(**b)).count();
            if len < min || len > max {
                return None;
            }
            at - len
        }
    };
    // `https://api.telegram.org/bot<token>/sendMessage`
    if !starts_a_word(text, start) && !text[..start].ends_with(b"/bot") {
        return None;
    }
    let mut tail = runs.run(form.tail, end);
    if matches!(form.tail, Dotted | Path) {
        // A full stop ends the sentence.
        tail = tail.strip_suffix(b".").unwrap_or(tail);
    }
    let (min, max) = form.len;
    let goes_on = max < MAX_TAIL && text.get(end + tail.len()).is_some_and(|b| is_word(*b));
    if tail.len() < min || tail.len() > max || goes_on {
        return None;
    }
    let longer = if tail.len() > at - start { tail } else { &text[start..at] };
    random::is_token(longer).then(|| Secret { what: form.what, span: start..end + tail.len() })
}
