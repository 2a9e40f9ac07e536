//! Requests and replies as one JSON value each, for stores with protocols other than SQL.

use alloc::{collections::BTreeMap, format, string::String, vec, vec::Vec};

use serde_json::Value;

use crate::{
    Ask, Found, Namespace, Record, Reply, Request, Result,
    rules::error::damaged,
    rules::json::{Fields, check_canonical},
};

impl Request {
    /// Returns the request as canonical JSON.
    ///
    /// ```
    /// use polyflake_lease::{Ask, Request};
    ///
    /// let request = Request { number: 1, namespace: "orders".into(), ask: Ask::Read { first: 42 } };
    /// let text = r#"{"ask":"read","first":42,"namespace":"orders","number":1}"#;
    /// assert_eq!(request.to_json(), text);
    /// assert_eq!(Request::from_json(text)?, request);
    /// # Ok::<(), polyflake_lease::Error>(())
    /// ```
    pub fn to_json(&self) -> String {
        let (ask, more) = match &self.ask {
            Ask::Open(new) => ("open", vec![("new", new.to_value())]),
            Ask::Find { limit } => ("find", vec![("limit", (*limit).into())]),
            Ask::Read { first } => ("read", vec![("first", (*first).into())]),
            Ask::Put { old, new } => {
                ("put", vec![("new", new.to_value()), ("old", old.to_value())])
            }
            Ask::PutNamespace { old, new, first, count } => (
                "put_namespace",
                vec![
                    ("count", (*count).into()),
                    ("first", (*first).into()),
                    ("new", new.to_value()),
                    ("old", old.to_value()),
                ],
            ),
            Ask::Survey => ("survey", Vec::new()),
            Ask::List => ("list", Vec::new()),
        };
        let fields = [
            ("ask", ask.into()),
            ("namespace", self.namespace.as_str().into()),
            ("number", self.number.into()),
        ];
        text_of(fields.into_iter().chain(more))
    }

    /// Parses a request from canonical JSON.
    ///
    /// # Errors
    /// Returns `store_damaged` for any other string, or `schema_too_new` for records in a newer format.
    pub fn from_json(text: &str) -> Result<Self> {
        let fields = Fields::read(text)?;
        let record = |key| Record::from_fields(&fields.object(key)?);
        let namespace = |key| Namespace::from_fields(&fields.object(key)?);
        let ask = match &*fields.string("ask")? {
            "open" => Ask::Open(namespace("new")?),
            "find" => {
                let limit = u32::try_from(fields.integer("limit")?);
                Ask::Find { limit: limit.map_err(|_| damaged("expected a `limit` below 2^32"))? }
            }
            "read" => Ask::Read { first: fields.integer("first")? },
            "put" => Ask::Put { old: record("old")?, new: record("new")? },
            "put_namespace" => Ask::PutNamespace {
                old: namespace("old")?,
                new: namespace("new")?,
                first: fields.integer("first")?,
                count: fields.integer("count")?,
            },
            "survey" => Ask::Survey,
            "list" => Ask::List,
            _ => return Err(damaged("expected one of the seven asks")),
        };
        let (number, namespace) = (fields.integer("number")?, fields.string("namespace")?);
        let request = Self { number, namespace, ask };
        check_canonical(text, &request.to_json())?;
        Ok(request)
    }
}

impl Reply {
    /// Returns the reply as canonical JSON. Missing values are null.
    ///
    /// ```
    /// use polyflake_lease::{Found, Reply};
    ///
    /// let reply = Reply { now: 7, store: "memory:1".into(), namespace: None, found: Found::Done };
    /// let text = r#"{"found":"done","namespace":null,"now":7,"store":"memory:1"}"#;
    /// assert_eq!(reply.to_json(), text);
    /// assert_eq!(Reply::from_json(text)?, reply);
    /// # Ok::<(), polyflake_lease::Error>(())
    /// ```
    pub fn to_json(&self) -> String {
        let (found, more) = match &self.found {
            Found::Nothing => ("nothing", Vec::new()),
            Found::Records(records) => {
                ("records", vec![("records", records.iter().map(Record::to_value).collect())])
            }
            Found::Done => ("done", Vec::new()),
            Found::Differs(record) => {
                ("differs", vec![("record", record.as_ref().map(Record::to_value).into())])
            }
            Found::Survey { records, latest_end } => (
                "survey",
                vec![("latest_end", (*latest_end).into()), ("records", (*records).into())],
            ),
            Found::Names(names) => ("names", vec![("names", names.clone().into())]),
        };
        let fields = [
            ("found", found.into()),
            ("namespace", self.namespace.as_ref().map(Namespace::to_value).into()),
            ("now", self.now.into()),
            ("store", self.store.as_str().into()),
        ];
        text_of(fields.into_iter().chain(more))
    }

    /// Parses a reply from canonical JSON.
    ///
    /// # Errors
    /// Returns `store_damaged` for any other string, or `schema_too_new` for records in a newer format.
    pub fn from_json(text: &str) -> Result<Self> {
        let fields = Fields::read(text)?;
        let found = match &*fields.string("found")? {
            "nothing" => Found::Nothing,
            "records" => {
                let records = fields.objects("records")?;
                Found::Records(records.iter().map(Record::from_fields).collect::<Result<_>>()?)
            }
            "done" => Found::Done,
            "differs" => {
                let record = fields.object_or_null("record")?;
                Found::Differs(record.map(|record| Record::from_fields(&record)).transpose()?)
            }
            "survey" => Found::Survey {
                records: fields.integer("records")?,
                latest_end: fields.integer("latest_end")?,
            },
            "names" => Found::Names(fields.texts("names")?),
            _ => return Err(damaged("expected a result of one of the seven asks")),
        };
        let namespace = fields.object_or_null("namespace")?;
        let namespace =
            namespace.map(|namespace| Namespace::from_fields(&namespace)).transpose()?;
        let (now, store) = (fields.integer("now")?, fields.string("store")?);
        let reply = Self { now, store, namespace, found };
        check_canonical(text, &reply.to_json())?;
        Ok(reply)
    }
}

/// Formats the fields as one JSON object.
fn text_of(fields: impl Iterator<Item = (&'static str, Value)>) -> String {
    // The map sorts the keys, so that every message has exactly one form and `check_canonical` can compare whole strings.
    let fields: BTreeMap<_, _> = fields.collect();
    let fields = fields.iter().map(|(key, value)| format!("\"{key}\":{value}"));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}
