//! Seeds put into a run in bulk: what `queueing.rs` does for each, for a hundred thousand at once.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::politeness_key::PolitenessKey;
use crate::queueing::Read;
use crate::seed::Seed;
use crate::sql::params;
use crate::urls::seed_rank;
use crate::{NewUrl, SiteId, Store, StoreError};

/// Seeds written in one transaction.
const BATCH: usize = 100_000;

/// Seeds after which the server counts its tables at once, and not a minute later.
const ANALYZED: i64 = 1000;

/// A seed of a batch.
struct Row {
    seed: Seed,
    /// By its place in the list.
    rank: i64,
    /// Whether it is the first one of its host.
    is_first: bool,
}

/// The seeds of a batch, and the sites that they are of.
const TABLES: &str = "
CREATE TEMP TABLE IF NOT EXISTS incoming (rank BIGINT, is_first BOOLEAN, host TEXT COLLATE \"C\",
    bare TEXT COLLATE \"C\", key TEXT COLLATE \"C\", url TEXT COLLATE \"C\", fingerprint BIGINT, kind BIGINT);
CREATE TEMP TABLE IF NOT EXISTS incoming_sites (bare TEXT COLLATE \"C\" PRIMARY KEY, site BIGINT, in_run BIGINT,
    moved_to BIGINT, host TEXT COLLATE \"C\", key TEXT COLLATE \"C\", url TEXT COLLATE \"C\", kind BIGINT);
TRUNCATE incoming, incoming_sites";

/// Which known site each host of the batch is. A host that led to one with a seed of its own is asked itself.
const FIND: &str = "INSERT INTO incoming_sites
    SELECT DISTINCT ON (i.bare) i.bare, s.id, s.run_id, t.id, i.host, i.key, i.url, i.kind
    FROM incoming i
    LEFT JOIN LATERAL (SELECT * FROM sites WHERE sites.host IN (i.bare, 'www.' || i.bare)
        ORDER BY updated_at DESC LIMIT 1) s ON TRUE
    LEFT JOIN sites t ON t.id = s.moved_to AND NOT coalesce(regexp_replace(t.host, '^www\\.', '') =
        regexp_replace(split_part(t.seed_url, '/', 3), '^www\\.', '') AND
        regexp_replace(t.host, '^www\\.', '') <> i.bare, FALSE)
    ORDER BY i.bare, i.rank";

/// New sites, known ones, and those that a redirect led to last time. As in `queue_site`.
const QUEUE: [&str; 3] = [
    "INSERT INTO sites (host, key_url, seed_url, run_id, updated_at, politeness_key, seed_kind)
        SELECT host, url, url, ?1, ?2, key, kind FROM incoming_sites WHERE site IS NULL ORDER BY bare
        ON CONFLICT (host) DO NOTHING",
    "UPDATE sites SET run_id = ?1, outcome = NULL, reason = NULL, updated_at = ?2, seed_url = i.url,
        key_url = CASE WHEN sites.seed_url IS NOT DISTINCT FROM i.url THEN sites.key_url ELSE i.url END,
        politeness_key = i.key, seed_kind = i.kind, moved_to = NULL
        FROM incoming_sites i WHERE sites.id = i.site AND i.moved_to IS NULL AND i.in_run IS DISTINCT FROM ?1",
    "UPDATE sites SET run_id = ?1, outcome = NULL, reason = NULL, updated_at = ?2
        FROM incoming_sites i WHERE sites.id = i.moved_to AND sites.run_id IS DISTINCT FROM ?1",
];

/// Sites whose host led elsewhere last time, and own seeds of sites that the seed of another host has put into the run.
const MARK: [&str; 2] = [
    "UPDATE sites SET run_id = ?1 FROM incoming_sites i WHERE sites.id = i.site AND i.moved_to IS NOT NULL",
    "UPDATE sites SET seed_url = i.url, seed_kind = i.kind FROM incoming_sites i
        WHERE sites.id = i.site AND i.moved_to IS NULL AND i.in_run = ?1 AND
            regexp_replace(split_part(sites.seed_url, '/', 3), '^www\\.', '') <> i.bare",
];

/// The hosts of sites that wait.
const HOSTS: &str = "INSERT INTO hosts (key, run_id)
    SELECT DISTINCT s.politeness_key, ?1::BIGINT FROM incoming_sites i
    JOIN sites s ON s.id = coalesce(i.moved_to, i.site, (SELECT id FROM sites WHERE host = i.host))
    WHERE s.politeness_key IS NOT NULL AND s.run_id = ?1 AND s.outcome IS NULL ORDER BY 1
    ON CONFLICT (key) DO UPDATE SET run_id = excluded.run_id WHERE hosts.run_id IS DISTINCT FROM excluded.run_id";

/// Further URLs of a host, for the frontier. As in `save_seed`.
const URLS: &str = "INSERT INTO urls (site_id, fingerprint, url, state, depth, rank, seed_run)
    SELECT DISTINCT ON (1, 2) coalesce(f.moved_to, f.site, (SELECT id FROM sites WHERE host = f.host)), i.fingerprint,
        i.url, 0, 0, i.rank, ?1::BIGINT
    FROM incoming i JOIN incoming_sites f ON f.bare = i.bare WHERE NOT i.is_first ORDER BY 1, 2, i.rank
    ON CONFLICT (site_id, fingerprint) DO UPDATE SET seed_run = excluded.seed_run, rank = excluded.rank, depth = 0
    WHERE urls.seed_run IS DISTINCT FROM excluded.seed_run";

impl Store {
    pub(crate) fn queue_batches(
        &self,
        run: i64,
        seeds: &mut dyn Iterator<Item = Seed>,
        at: i64,
    ) -> Result<Read, StoreError> {
        // Digests of hosts with those of their key pages: a hundred million names would not fit.
        let mut known: FxHashMap<u64, u64> = FxHashMap::default();
        let mut batch = Vec::with_capacity(BATCH);
        let mut n_seeds = 0;
        loop {
            let next = seeds.next();
            let is_last = next.is_none();
            if let Some(seed) = next {
                let url = &seed.url;
                n_seeds += 1;
                let host = url.authority();
                let bare = xxh3_64(host.strip_prefix("www.").unwrap_or(&host).as_bytes());
                let key = known.get(&bare).copied();
                known.entry(bare).or_insert(url.fingerprint());
                if key != Some(url.fingerprint()) {
                    batch.push(Row { rank: seed_rank(n_seeds), is_first: key.is_none(), seed });
                }
            }
            if batch.len() == BATCH || is_last {
                self.queue_batch(run, &batch, at)?;
                batch.clear();
            }
            if is_last {
                // Without figures the server reads whole tables for one site.
                if n_seeds > ANALYZED {
                    self.batch("ANALYZE sites, hosts, urls")?;
                }
                return Ok(Read { seeds: n_seeds as usize, hosts: known.len() });
            }
        }
    }

    /// Puts a batch of seeds into a run.
    fn queue_batch(&self, run: i64, seeds: &[Row], at: i64) -> Result<(), StoreError> {
        let Some(server) = self.server() else { return Ok(()) };
        let mut lines = String::with_capacity(seeds.len() * 120);
        for Row { seed: Seed { url, kind }, rank, is_first } in seeds {
            let host = url.authority();
            let bare = host.strip_prefix("www.").unwrap_or(&host);
            let key = PolitenessKey::new(url, self.politeness_key, None);
            let fingerprint = url.fingerprint() as i64;
            // A parsed URL has no tab, no line end and no backslash, except escaped in its query.
            let text = url.as_str().replace('\\', "\\\\");
            let _ =
                writeln!(lines, "{rank}\t{is_first}\t{host}\t{bare}\t{key}\t{text}\t{fingerprint}\t{}", *kind as i64);
        }
        self.in_transaction(|| {
            self.batch(TABLES)?;
            self.wrap(server.copy("COPY incoming FROM STDIN", lines))?;
            self.batch("ANALYZE incoming")?;
            self.execute(FIND, params![])?;
            for sql in QUEUE {
                self.execute(sql, params![run, at])?;
            }
            for sql in MARK {
                self.execute(sql, params![run])?;
            }
            self.execute(HOSTS, params![run])?;
            self.execute(URLS, params![run]).map(drop)
        })
    }

    /// Puts URLs into the frontier, all with one statement. Those that are known already stay as they are.
    pub(crate) fn save_urls_at_once(&self, site: SiteId, urls: &[NewUrl]) -> Result<(), StoreError> {
        let fingerprints: Vec<i64> = urls.iter().map(|url| url.fingerprint).collect();
        let texts: Vec<String> = urls.iter().map(|url| url.url.clone()).collect();
        let depths: Vec<i64> = urls.iter().map(|url| i64::from(url.depth)).collect();
        let ranks: Vec<i64> = urls.iter().map(|url| url.rank).collect();
        let sql = "INSERT INTO urls (site_id, fingerprint, url, state, depth, rank)
            SELECT ?1, u.fingerprint, u.url, 0, u.depth, u.rank
            FROM unnest(?2::BIGINT[], ?3::TEXT[], ?4::BIGINT[], ?5::BIGINT[]) AS u (fingerprint, url, depth, rank)
            ON CONFLICT DO NOTHING";
        self.execute(sql, params![site, &fingerprints[..], &texts[..], &depths[..], &ranks[..]]).map(drop)
    }

    /// Notes the host of a site that was put into a run, so that it is leased.
    pub(crate) fn queue_host(&self, run: i64, site: SiteId) -> Result<(), StoreError> {
        if !self.is_shared() {
            return Ok(());
        }
        let sql = "SELECT key_url FROM sites WHERE id = ?1";
        let url = self.row(sql, params![site], |row| crate::url_at(row, 0))?;
        let key = PolitenessKey::new(&url, self.politeness_key, None);
        let sql = "UPDATE sites SET politeness_key = ?2 WHERE id = ?1";
        self.execute(sql, params![site, key.as_str()])?;
        let sql = "INSERT INTO hosts (key, run_id) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET run_id = ?2";
        self.execute(sql, params![key.as_str(), run]).map(drop)
    }
}
