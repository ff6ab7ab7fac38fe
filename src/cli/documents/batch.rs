//! Documents in groups that are worked on in parallel.

use super::FoundDocument;

/// The next documents to be processed in parallel, with bounded memory. `None` at the end.
pub(in crate::cli) fn next_batch(
    documents: &mut impl Iterator<Item = anyhow::Result<FoundDocument>>,
) -> Option<Vec<anyhow::Result<FoundDocument>>> {
    const MOST: usize = 256;
    const MOST_BYTES: usize = 16 << 20;
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while batch.len() < MOST && bytes < MOST_BYTES {
        let Some(found) = documents.next() else { break };
        bytes += found.as_ref().map_or(0, FoundDocument::n_bytes);
        batch.push(found);
    }
    (!batch.is_empty()).then_some(batch)
}
