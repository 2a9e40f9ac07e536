//! The settings of a lease, parsed from JSON.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::ops::RangeInclusive;

use polyflake::layout::Layout;
use serde_json::{Map, Value as Json};

use crate::{
    Error, Options, Result, Shape,
    protocol::Random,
    rules::access::{Access, Create, Schema, is_durable_storage},
    rules::check::Check,
    rules::error::out_of_range,
    rules::json::MAX_SAFE_INTEGER,
    rules::lease_url::with_variable_prefix,
    rules::shape::WorkerIdFormat,
    rules::worker_id_layout::{self, WorkerIdLayout},
    stores::steps::Engine,
};

/// The settings of a lease.
pub(super) struct Settings(Map<String, Json>);

fn invalid_setting(key: &str) -> Error {
    out_of_range(format!("expected a valid `{key}` in the settings of a lease"))
}

impl Settings {
    pub(super) fn parse(text: &str) -> Result<Self> {
        match serde_json::from_str(text) {
            Ok(Json::Object(settings)) => Ok(Self(settings)),
            _ => Err(out_of_range("expected the settings of a lease as JSON")),
        }
    }

    pub(super) fn text(&self, key: &str) -> Result<&str> {
        self.0.get(key).and_then(Json::as_str).ok_or_else(|| invalid_setting(key))
    }

    /// Returns a setting, or `None` if it is missing or null.
    fn setting(&self, key: &str) -> Option<&Json> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    fn number(&self, key: &str) -> Result<Option<u64>> {
        let Some(value) = self.setting(key) else { return Ok(None) };
        value
            .as_u64()
            .filter(|number| *number <= MAX_SAFE_INTEGER)
            .map(Some)
            .ok_or_else(|| invalid_setting(key))
    }

    /// Returns the value of a Boolean setting, or `false` if it is missing or null.
    fn flag(&self, key: &str) -> Result<bool> {
        self.setting(key)
            .map_or(Ok(false), |value| value.as_bool().ok_or_else(|| invalid_setting(key)))
    }

    /// Returns a string setting, or `None` if it is missing or null.
    fn string_setting(&self, key: &str) -> Result<Option<&str>> {
        self.setting(key)
            .map(|value| value.as_str().ok_or_else(|| invalid_setting(key)))
            .transpose()
    }

    /// Returns the store. The name of an `SQLite` store is still empty at this point.
    pub(super) fn store(&self) -> Result<Engine> {
        let schema = self.string_setting("schema")?.map(Schema::new).transpose()?;
        match (self.text("store")?, schema) {
            ("postgresql", schema) => Ok(Engine::Postgresql(schema.unwrap_or_default())),
            ("sqlite", None) => Ok(Engine::Sqlite(String::new())),
            ("mysql", None) => Ok(Engine::Mysql),
            ("http", None) => Ok(Engine::Http),
            ("redis", None) => Ok(Engine::Redis),
            ("sqlite" | "mysql" | "http" | "redis", Some(_)) => Err(invalid_setting("schema")),
            _ => Err(invalid_setting("store")),
        }
    }

    /// Returns the options for opening the store.
    pub(super) fn access(&self) -> Result<Access> {
        let create = Create::parse(self.string_setting("create")?)?;
        let create = if self.is_check() { create.trial() } else { create };
        let has_durable_storage = is_durable_storage(self.string_setting("storage")?)?;
        Ok(Access { create, has_durable_storage, ..Access::default() })
    }

    /// Returns a new check and its result so far if the host requested a check instead of a lease, or `None` otherwise.
    pub(super) fn check(&self) -> Result<Option<(Check, Result<()>)>> {
        let name = self.text("namespace")?;
        Ok(self.is_check().then(|| (Check::new(name), Ok(()))))
    }

    fn is_check(&self) -> bool {
        self.setting("check").is_some()
    }

    pub(super) fn options(&self) -> Result<Options> {
        let mut options = Options::new(self.text("namespace")?, self.read_shape()?)?;
        if let Some(store_name) = self.string_setting("store_name")? {
            options = options.store_name(store_name);
        }
        if let Some(worker_id) = self.number("preferred_worker_id")? {
            options = options.preferred_worker_id(worker_id)?;
        }
        if let Some(worker_id) = self.number("required_worker_id")? {
            options = options.required_worker_id(worker_id)?;
        // `environment_worker_id` comes from an environment variable, so a worker ID that the program specifies takes
        // precedence.
        } else if let Some(worker_id) = self.number("environment_worker_id")? {
            options = options.required_worker_id(worker_id).map_err(with_variable_prefix)?;
        }
        if let Some(lease_ms) = self.number("lease_ms")? {
            options = options.lease_ms(lease_ms)?;
        }
        if let Some(renew_ms) = self.number("renew_ms")? {
            options = options.renew_ms(renew_ms)?;
        }
        if self.flag("strict")? {
            options = options.strict();
        }
        if let Some(wait_ms) = self.number("wait_ms")? {
            options = options.waits_for_ms(wait_ms);
        }
        if self.store()? == Engine::Redis {
            options = options.for_volatile_store()?;
        }
        match self.setting("holder") {
            Some(_) => options.holder(self.text("holder")?),
            None => Ok(options),
        }
    }

    /// Returns the configured range of worker IDs, or `all` if no range is configured.
    fn worker_id_range(&self, all: RangeInclusive<u64>) -> Result<RangeInclusive<u64>> {
        let Some(worker_ids) = self.setting("worker_ids") else { return Ok(all) };
        match worker_ids.as_array().map(Vec::as_slice) {
            Some([first, last]) => {
                let pair = first.as_u64().zip(last.as_u64());
                pair.map(|(first, last)| first..=last).ok_or_else(|| invalid_setting("worker_ids"))
            }
            _ => Err(invalid_setting("worker_ids")),
        }
    }

    fn read_shape(&self) -> Result<Shape> {
        if self.is_check() {
            return Shape::for_any_format(self.worker_id_range(0..=MAX_SAFE_INTEGER - 1)?);
        }
        match self.text("family")? {
            "randflake" => {
                // A secret has the same form as a token: 16 bytes as 32 hexadecimal digits.
                let secret =
                    Random::parse(self.text("secret")?).map_err(|_| invalid_setting("secret"))?;
                Shape::randflake(self.worker_id_range(0..=131_071)?, &secret.0.to_be_bytes())
            }
            "layout" => {
                let layout = Layout::from_json(self.text("layout")?);
                let layout = layout.map_err(|error| out_of_range(error.to_string()))?;
                let fields = self.0.get("fields").and_then(Json::as_array);
                let fields = fields.ok_or_else(|| invalid_setting("fields"))?;
                let fields: Option<Vec<_>> = fields.iter().map(Json::as_str).collect();
                let fields = fields.ok_or_else(|| invalid_setting("fields"))?;
                let all = WorkerIdLayout::new(&layout, &fields)?.all_worker_ids();
                worker_id_layout::shape(&layout, &fields, self.worker_id_range(all)?)
            }
            name => {
                let format = WorkerIdFormat::from_name(name);
                let format = format.ok_or_else(|| invalid_setting("family"))?;
                let worker_ids = self.worker_id_range(0..=format.last)?;
                format.shape(worker_ids)
            }
        }
    }
}
