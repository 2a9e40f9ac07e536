//! Requests and replies, each encoded as a single JSON value, for stores with protocols other than SQL.

use alloc::{collections::BTreeMap, format, string::String, vec, vec::Vec};

use serde_json::Value;

use crate::{
    Error, ErrorKind, Result,
    protocol::{Namespace, Operation, Record, Reply, ReplyContent, Request},
    rules::error::damaged_record,
    rules::json::{Fields, check_canonical},
};

impl Request {
    /// Returns the request as canonical JSON.
    ///
    /// ```
    /// use polyflake_lease::protocol::{Operation, Request};
    ///
    /// let request = Request { number: 1, namespace: "orders".into(), operation: Operation::Read { first: 42 } };
    /// let text = r#"{"ask":"read","first":42,"namespace":"orders","number":1}"#;
    /// assert_eq!(request.to_json(), text);
    /// assert_eq!(Request::from_json(text)?, request);
    /// # Ok::<(), polyflake_lease::Error>(())
    /// ```
    pub fn to_json(&self) -> String {
        let (operation, more) = match &self.operation {
            Operation::Open(new) => ("open", vec![("new", new.to_value())]),
            Operation::Find { limit } => ("find", vec![("limit", (*limit).into())]),
            Operation::Read { first } => ("read", vec![("first", (*first).into())]),
            Operation::Put { old, new } => {
                ("put", vec![("new", new.to_value()), ("old", old.to_value())])
            }
            Operation::PutNamespace { old, new, first, count } => (
                "put_namespace",
                vec![
                    ("count", (*count).into()),
                    ("first", (*first).into()),
                    ("new", new.to_value()),
                    ("old", old.to_value()),
                ],
            ),
            Operation::Survey => ("survey", Vec::new()),
            Operation::List => ("list", Vec::new()),
        };
        let fields = [
            ("ask", operation.into()),
            ("namespace", self.namespace.as_str().into()),
            ("number", self.number.into()),
        ];
        fields_to_json(fields.into_iter().chain(more))
    }

    /// Parses a request from canonical JSON.
    ///
    /// # Errors
    /// Returns `store_damaged` for any other string, or `schema_too_new` for records in a newer format.
    pub fn from_json(text: &str) -> Result<Self> {
        let fields = Fields::parse(text)?;
        let record = |key| Record::from_fields(&fields.object(key)?);
        let namespace = |key| Namespace::from_fields(&fields.object(key)?);
        let operation = match &*fields.string("ask")? {
            "open" => Operation::Open(namespace("new")?),
            "find" => {
                let limit = u32::try_from(fields.integer("limit")?);
                Operation::Find {
                    limit: limit.map_err(|_| damaged_record("expected a `limit` below 2^32"))?,
                }
            }
            "read" => Operation::Read { first: fields.integer("first")? },
            "put" => Operation::Put { old: record("old")?, new: record("new")? },
            "put_namespace" => Operation::PutNamespace {
                old: namespace("old")?,
                new: namespace("new")?,
                first: fields.integer("first")?,
                count: fields.integer("count")?,
            },
            "survey" => Operation::Survey,
            "list" => Operation::List,
            _ => return Err(damaged_record("expected one of the seven asks")),
        };
        let (number, namespace) = (fields.integer("number")?, fields.string("namespace")?);
        let request = Self { number, namespace, operation };
        check_canonical(text, &request.to_json())?;
        Ok(request)
    }
}

impl Reply {
    /// Returns the reply as canonical JSON. Missing values are null.
    ///
    /// ```
    /// use polyflake_lease::protocol::{Reply, ReplyContent};
    ///
    /// let reply = Reply { now: 7, store: "memory:1".into(), namespace: None, content: ReplyContent::Done };
    /// let text = r#"{"found":"done","namespace":null,"now":7,"store":"memory:1"}"#;
    /// assert_eq!(reply.to_json(), text);
    /// assert_eq!(Reply::from_json(text)?, reply);
    /// # Ok::<(), polyflake_lease::Error>(())
    /// ```
    pub fn to_json(&self) -> String {
        let (found, more) = match &self.content {
            ReplyContent::Nothing => ("nothing", Vec::new()),
            ReplyContent::Records(records) => {
                ("records", vec![("records", records.iter().map(Record::to_value).collect())])
            }
            ReplyContent::Done => ("done", Vec::new()),
            ReplyContent::Differs(record) => {
                ("differs", vec![("record", record.as_ref().map(Record::to_value).into())])
            }
            ReplyContent::Survey { records, latest_end } => (
                "survey",
                vec![("latest_end", (*latest_end).into()), ("records", (*records).into())],
            ),
            ReplyContent::Names(names) => ("names", vec![("names", names.clone().into())]),
        };
        let fields = [
            ("found", found.into()),
            ("namespace", self.namespace.as_ref().map(Namespace::to_value).into()),
            ("now", self.now.into()),
            ("store", self.store.as_str().into()),
        ];
        fields_to_json(fields.into_iter().chain(more))
    }

    /// Parses a reply from canonical JSON.
    ///
    /// # Errors
    /// Returns `store_damaged` for any other string, or `schema_too_new` for records in a newer format.
    pub fn from_json(text: &str) -> Result<Self> {
        let fields = Fields::parse(text)?;
        let found = match &*fields.string("found")? {
            "nothing" => ReplyContent::Nothing,
            "records" => {
                let records = fields.objects("records")?;
                ReplyContent::Records(
                    records.iter().map(Record::from_fields).collect::<Result<_>>()?,
                )
            }
            "done" => ReplyContent::Done,
            "differs" => {
                let record = fields.object_or_null("record")?;
                ReplyContent::Differs(
                    record.map(|record| Record::from_fields(&record)).transpose()?,
                )
            }
            "survey" => ReplyContent::Survey {
                records: fields.integer("records")?,
                latest_end: fields.integer("latest_end")?,
            },
            "names" => ReplyContent::Names(fields.strings("names")?),
            _ => return Err(damaged_record("expected a result of one of the seven asks")),
        };
        let namespace = fields.object_or_null("namespace")?;
        let namespace =
            namespace.map(|namespace| Namespace::from_fields(&namespace)).transpose()?;
        let (now, store) = (fields.integer("now")?, fields.string("store")?);
        let reply = Self { now, store, namespace, content: found };
        check_canonical(text, &reply.to_json())?;
        Ok(reply)
    }
}

impl Error {
    /// Parses an error returned by an HTTP service. A code that only the service uses becomes `lease_unavailable`.
    pub(crate) fn from_json(text: &str) -> Result<Self> {
        let fields = Fields::parse(text)?;
        let (code, message) = (fields.string("code")?, fields.string("message")?);
        let kind = ErrorKind::from_code(&code);
        let message = match kind {
            Some(_) => message,
            None => format!("the service reports {code}: {message}"),
        };
        let error = Self::new(kind.unwrap_or(ErrorKind::LeaseUnavailable), message);
        let error = if fields.is_true("permanent") { error.permanent() } else { error };
        Ok(fields.integer("until").map_or(error.clone(), |until| error.with_until(until)))
    }
}

/// Formats the fields as a single JSON object.
fn fields_to_json(fields: impl Iterator<Item = (&'static str, Value)>) -> String {
    // The map sorts the keys, so every message has exactly one encoding, and `check_canonical` can compare whole strings.
    let fields: BTreeMap<_, _> = fields.collect();
    let fields = fields.iter().map(|(key, value)| format!("\"{key}\":{value}"));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}
