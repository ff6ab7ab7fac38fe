//! The other keys of the store and of exports, and those of notices.

use std::time::Duration;

use super::{Key, keys};
use crate::values::{
    addresses, any_text, at_least, duration, host_names, one_line, one_of, positive, sender, smtp_address, strings,
    text, web_address, whole, words_of,
};
use crate::{NotifyEach, NotifyWhen};

/// What a page can have become.
const CHANGES: [&str; 9] =
    ["new", "changed", "same_text", "recleaned", "gone", "moved", "blocked", "failed", "returned"];

pub(super) const OUTPUT: &[Key] = keys! {
    "store.lease" = "30.0", "PostgreSQL: how long the hosts of a crawl that is not heard of stay leased to it. Others take them over after that and one full delay.",
        |s, v| s.store.lease => at_least(duration(v)?, Duration::from_secs(2))?;
    "store.zstd_level" = "3", "zstd compression level of stored pages.",
        |s, v| s.store.zstd_level => whole(v, 1, 19)? as i32;
    "store.keep_nights" = "0", "Runs of which old versions of pages and the log of requests are kept. 0 = all.",
        |s, v| s.store.keep.nights => whole(v, 0, 1_000_000)?;
    "export.shingle" = "5", "Words of a shingle of MinHash, which finds near-duplicates. 5 with 14 bands of 8 rows: FineWeb. A text is near another one with probability 1 - (1 - s^rows)^bands, s being the overlap of their shingles (Jaccard).",
        |s, v| s.export.near.shingle => whole(v, 1, 64)?;
    "export.bands" = "14", "Bands of MinHash. More find more. Each takes 16 bytes of disk a page.",
        |s, v| s.export.near.bands => whole(v, 1, 64)?;
    "export.rows" = "8", "Hashes of a band of MinHash. Fewer find texts that are less alike.",
        |s, v| s.export.near.rows => whole(v, 1, 16)?;
    "export.language_model" = "\"\"", "File of a fastText model (.bin, not quantized) that tells the language of rows, such as GlotLID, OpenLID or lid.176. Its labels are eng_Latn or en. Also for dehusk clean --rows. Empty = the built-in detector.",
        |s, v| s.export.language_model => any_text(v)?;
    "export.tokenizer" = "\"\"", "File of a tokenizer (tokenizer.json of a Hugging Face model) by which the column n_tokens is counted. Also for dehusk clean --rows. Empty = the column is empty.",
        |s, v| s.export.tokenizer => any_text(v)?;
    "export.chunk_chars" = "2000", "Characters of a piece of --format chunks, at most. Tables and listings are whole, whatever they hold.",
        |s, v| s.export.chunk_chars => whole(v, 50, 1_000_000)?;
    "export.chunk_tokens" = "0", "Tokens of a piece, at most, by export.tokenizer. 0 = characters count.",
        |s, v| s.export.chunk_tokens => whole(v, 0, 1_000_000)?;
    "export.min_paragraph" = "8", "Least number of words of a paragraph that dehusk export --paragraphs compares with those of other pages.",
        |s, v| s.export.min_paragraph => whole(v, 1, 1_000_000)?;
    "common_crawl.base" = "\"https://data.commoncrawl.org/\"", "Where dehusk learn cc:CRAWL and dehusk clean cc:CRAWL find Common Crawl: its server, a mirror, a bucket (s3://commoncrawl/), or a folder in the same layout.",
        |s, v| s.common_crawl.base => text(v)?;
    "common_crawl.connections" = "8", "Requests that are sent to it at the same time.",
        |s, v| s.common_crawl.connections => whole(v, 1, 256)?;
    "warc.operator" = "\"\"", "Who runs the crawl, with an address, for the warcinfo record of each archive file. Empty = the field is left out.",
        |s, v| s.warc.operator => one_line(v)?;
    "warc.is_part_of" = "\"\"", "Name of the collection that the archive is part of, for the same record.",
        |s, v| s.warc.is_part_of => one_line(v)?;
    "warc.description" = "\"\"", "What the archive holds and why it was made, for the same record.",
        |s, v| s.warc.description => one_line(v)?;
    "notify.when" = "\"news\"", "After which runs somebody is told: always, news (a page differs, a site fails or works again), failures (a site fails that did not before).",
        |s, v| s.notify.when => one_of(v, &[("always", NotifyWhen::Always), ("news", NotifyWhen::News), ("failures", NotifyWhen::Failures)])?;
    "notify.each" = "\"run\"", "What a call of the command, a call of the webhook and an entry of the Atom feed are about: run (the report), page (one page that differs, with the words that do). Mail is about a run.",
        |s, v| s.notify.each => one_of(v, &[("run", NotifyEach::Run), ("page", NotifyEach::Page)])?;
    "notify.sites" = "[]", "Hosts that notices are about, as in [[site]] tables: \"example.org\" with its subdomains, \"*.example.org\". Empty = all.",
        |s, v| s.notify.sites => if strings(v)?.is_empty() { Vec::new() } else { host_names(Some(v))? };
    "notify.changes" = "[]", "Changes of pages that notices list: new, changed, same_text, recleaned, gone, moved, blocked, failed, returned. Empty = all.",
        |s, v| s.notify.changes => words_of(v, &CHANGES)?;
    "notify.min_words" = "0", "Least number of words that differ in a changed page for notices to list it. Words are counted for the first 1,000 changed pages of a run; further pages are listed without a count.",
        |s, v| s.notify.min_words => whole(v, 0, 1_000_000)?;
    "notify.command" = "\"\"", "Command that the shell runs after a run, with the report as JSON (dehusk report --format json) on its input, and its number as DEHUSK_RUN. Empty = none.",
        |s, v| s.notify.command => any_text(v)?;
    "notify.webhook" = "\"\"", "http or https URL to which the same JSON is posted. Empty = none.",
        |s, v| s.notify.webhook => web_address(v)?;
    "notify.secret" = "\"\"", "Key of the webhook's signature: the header X-Dehusk-Signature is sha256= and the HMAC-SHA256 of the body in hexadecimal digits. Empty = not signed.",
        |s, v| s.notify.secret => any_text(v)?;
    "notify.mail" = "[]", "Addresses to which the report is mailed, as text and HTML.",
        |s, v| s.notify.mail => addresses(v)?;
    "notify.sendmail" = "\"sendmail -t -oi\"", "Command that takes a mail with its header on its input.",
        |s, v| s.notify.sendmail => text(v)?;
    "notify.smtp" = "\"\"", "Server that mail goes to instead of notify.sendmail: smtps://user:password@mail.my.org (TLS), smtp://mail.my.org:587?tls=required (STARTTLS), smtp://127.0.0.1. notify.from is needed, too. Empty = notify.sendmail.",
        |s, v| s.notify.smtp => smtp_address(v)?;
    "notify.from" = "\"\"", "Sender of mail. Empty = the one that notify.sendmail puts there.",
        |s, v| s.notify.from => sender(v)?;
    "notify.atom" = "\"\"", "File of an Atom feed with an entry for each of the last 50 reports. Empty = none.",
        |s, v| s.notify.atom => any_text(v)?;
    "notify.timeout" = "30.0", "Time that each of them may take, in seconds. It is tried three times; a failure is a warning, and changes no exit code.",
        |s, v| s.notify.timeout => positive(duration(v)?)?;
};
