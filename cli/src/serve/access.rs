//! Access tokens for namespaces, and a limit on the request rate of each namespace.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use polyflake_lease::protocol::hosted::LeaseUrl;
use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};

use crate::{
    failure::{self, Failure},
    lease::FAMILIES,
};

/// The environment variable with the tokens, if they are not in a file.
const TOKENS_VARIABLE: &str = "POLYFLAKE_TOKENS";

/// The shortest token: 128 bits in base64.
const MIN_TOKEN_LEN: usize = 22;
const MAX_TOKEN_LEN: usize = 256;

/// The number of tokens that a namespace may have: two during a rotation.
const TOKENS_PER_NAMESPACE: usize = 2;

/// The maximum size of a burst, in seconds: a burst may contain as many requests as the rate limit allows in this time. A
/// burst occurs when a fleet starts, because each process sends several requests.
const BURST_SECS: f64 = 4.0;

/// All tokens, as digests, by namespace.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tokens(Vec<NamespaceTokens>);

/// The tokens of one namespace.
#[derive(Debug)]
pub(super) struct NamespaceTokens {
    namespace: String,
    digests: Vec<[u8; 32]>,
    allowance: Mutex<Option<Allowance>>,
}

/// The number of requests that the rate limit still allowed at a certain time.
#[derive(Debug)]
struct Allowance {
    left: f64,
    at: Instant,
}

/// Compares the namespaces and their tokens, but not the state of the rate limits.
impl PartialEq for NamespaceTokens {
    fn eq(&self, other: &Self) -> bool {
        (&self.namespace, &self.digests) == (&other.namespace, &other.digests)
    }
}

/// Warns if every user of this machine can read the file of the tokens. The service still starts, because some
/// orchestrators mount secrets with such permissions in a container that has no other user.
pub(super) fn warn_about_readers(path: &Path) -> Result<(), Failure> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        if std::fs::metadata(path)?.permissions().mode() & 0o004 != 0 {
            let path = path.display();
            anstream::eprintln!(
                "warning: every user of this machine can read the tokens in {path}: run `chmod o-r {path}`"
            );
        }
    }
    Ok(())
}

impl Tokens {
    /// Reads the tokens from a file, or from the environment variable.
    pub(super) fn load(file: Option<&Path>) -> Result<Self, Failure> {
        let (text, source) = match (file, std::env::var_os(TOKENS_VARIABLE)) {
            (Some(path), _) => (failure::read_file(path)?, path.display().to_string()),
            (None, Some(text)) => (text.into_encoded_bytes(), TOKENS_VARIABLE.to_owned()),
            (None, None) => {
                let reason = format!("expected --tokens FILE, or {TOKENS_VARIABLE} to be set");
                return Err(Failure::new("missing_field", reason));
            }
        };
        let text = String::from_utf8(text).map_err(|_| "it is not UTF-8".to_owned());
        text.and_then(|text| Self::parse(&text)).map_err(|reason| {
            Failure::new("invalid_secret", format!("cannot read the tokens in {source}: {reason}"))
        })
    }

    /// Parses lines that each contain a namespace and a token. Error messages contain no tokens. The Durable Object
    /// (`packages/js/src/lease/tokens.ts`) accepts the same lines, which `tests/leases/tokens.json` lists.
    fn parse(text: &str) -> Result<Self, String> {
        let mut tokens = Self::default();
        for (at, line) in (1..).zip(text.lines()) {
            let line = line.trim_ascii();
            if !line.is_empty() && !line.starts_with('#') {
                tokens.add(line).map_err(|reason| format!("{reason} in line {at}"))?;
            }
        }
        if tokens.0.is_empty() {
            Err("expected a line `NAMESPACE TOKEN`".into())
        } else {
            Ok(tokens)
        }
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split_ascii_whitespace();
        let (Some(namespace), Some(token), None) = (words.next(), words.next(), words.next())
        else {
            return Err("expected a namespace and a token".into());
        };
        LeaseUrl::parse("memory:", Some(namespace))
            .map_err(|_| "expected the name of a namespace")?;
        let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        let is_long = (MIN_TOKEN_LEN..=MAX_TOKEN_LEN).contains(&token.len());
        if !is_long || !token.bytes().all(is_token_byte) {
            let expected =
                "expected a token of 22 to 256 letters, digits and characters of `-._~+/=`";
            return Err(format!("{expected}, such as the output of `openssl rand -hex 32`,"));
        }
        let digest = hash_token(token);
        if self.0.iter().any(|access| access.digests.contains(&digest)) {
            return Err("expected a token that is not used before, found one".into());
        }
        let at = self.0.iter().position(|access| access.namespace == namespace);
        let at = at.unwrap_or_else(|| {
            let (namespace, digests) = (namespace.to_owned(), Vec::new());
            self.0.push(NamespaceTokens { namespace, digests, allowance: Mutex::default() });
            self.0.len() - 1
        });
        self.0[at].digests.push(digest);
        if self.0[at].digests.len() > TOKENS_PER_NAMESPACE {
            return Err("expected at most two tokens of a namespace, found a third".into());
        }
        Ok(())
    }

    /// Returns the namespace of a token. All digests are compared, each in constant time.
    pub(super) fn find(&self, token: &[u8]) -> Option<&NamespaceTokens> {
        let (digest, mut found) = (hash_token(token), u64::MAX);
        for (at, access) in (0_u64..).zip(&self.0) {
            for other in &access.digests {
                found.conditional_assign(&at, other.ct_eq(&digest));
            }
        }
        usize::try_from(found).ok().and_then(|found| self.0.get(found))
    }
}

fn hash_token(token: impl AsRef<[u8]>) -> [u8; 32] {
    Sha256::digest(token.as_ref()).into()
}

impl NamespaceTokens {
    /// Returns whether the tokens grant access to a namespace. A token for `orders` also grants access to `orders/sno` and
    /// to the namespaces of the other ID formats, because programs only name `orders`.
    pub(super) fn permits(&self, namespace: &str) -> bool {
        match namespace.strip_prefix(&self.namespace) {
            Some("") => true,
            Some(rest) => rest.strip_prefix('/').is_some_and(|family| FAMILIES.contains(&family)),
            None => false,
        }
    }

    /// Admits a request if the namespace's rate allows it, and counts it.
    ///
    /// # Errors
    /// Returns how long the client must wait until the next request is allowed.
    pub(super) fn admit_request(&self, rate: u32, now: Instant) -> Result<(), Duration> {
        let rate = f64::from(rate);
        let mut allowance = self.allowance.lock().unwrap_or_else(PoisonError::into_inner);
        let left = allowance.as_ref().map_or(rate * BURST_SECS, |before| {
            let since = now.saturating_duration_since(before.at).as_secs_f64();
            (before.left + since * rate).min(rate * BURST_SECS)
        });
        let is_allowed = left >= 1.0;
        *allowance = Some(Allowance { left: if is_allowed { left - 1.0 } else { left }, at: now });
        if is_allowed { Ok(()) } else { Err(Duration::from_secs_f64((1.0 - left) / rate)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef012345";

    fn table() -> serde_json::Value {
        serde_json::from_str(include_str!("../../../tests/leases/tokens.json")).unwrap()
    }

    #[test]
    fn the_valid_lines_are_those_of_the_table() {
        for case in table()["cases"].as_array().unwrap() {
            let parsed = Tokens::parse(case["lines"].as_str().unwrap());
            let Some(namespaces) = case["namespaces"].as_object() else {
                let error = parsed.expect_err(&case.to_string());
                assert!(error.contains(case["says"].as_str().unwrap()), "{error}");
                assert!(!error.contains("0123456789"), "{error}");
                continue;
            };
            let tokens = parsed.unwrap_or_else(|error| panic!("{error}: {case}"));
            assert_eq!(
                tokens.0.iter().map(|access| access.digests.len()).sum::<usize>(),
                namespaces.len()
            );
            for (token, namespace) in namespaces {
                assert_eq!(tokens.find(token.as_bytes()).unwrap().namespace, *namespace, "{case}");
            }
            for wrong in ["", "0123456789abcdef01234", "0123456789abcdef0123456"] {
                assert!(tokens.find(wrong.as_bytes()).is_none(), "{wrong}");
            }
        }
    }

    #[test]
    fn a_token_permits_the_namespaces_of_the_table() {
        for (owner, namespaces) in table()["permits"].as_object().unwrap() {
            let tokens = Tokens::parse(&format!("{owner} {TOKEN}")).unwrap();
            let access = tokens.find(TOKEN.as_bytes()).unwrap();
            for (name, is_permitted) in [("permitted", true), ("forbidden", false)] {
                for namespace in namespaces[name].as_array().unwrap() {
                    let namespace = namespace.as_str().unwrap();
                    assert_eq!(access.permits(namespace), is_permitted, "{owner}: {namespace}");
                }
            }
        }
    }

    #[test]
    fn a_namespace_is_limited_to_its_rate_after_a_burst() {
        let tokens = Tokens::parse(&format!("orders {TOKEN}")).unwrap();
        let (access, begin) = (&tokens.0[0], Instant::now());
        let admit = |ms| access.admit_request(10, begin + Duration::from_millis(ms));
        assert!((0..40).all(|_| admit(0).is_ok()));
        assert_eq!(admit(0), Err(Duration::from_millis(100)));
        assert!(admit(100).is_ok());
        assert!(admit(100).is_err());
        assert!((0..40).all(|_| admit(60_000).is_ok()));
        assert!(admit(60_000).is_err());
    }
}
