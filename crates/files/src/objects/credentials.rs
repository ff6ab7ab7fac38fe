//! Settings of object stores: the environment, and the files that the tools of Amazon write.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

/// Names in the files of Amazon's tools that are taken over.
const NAMES: [&str; 5] = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token", "region", "endpoint_url"];

/// Keys and values for the stores, those of the environment last.
pub(super) fn options() -> Vec<(String, String)> {
    let mut options: BTreeMap<String, String> = BTreeMap::new();
    let environment: BTreeMap<String, String> =
        env::vars_os().filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?))).collect();
    options.extend(of_files(&environment));
    // Keys of the environment are not mixed with those of a file.
    if environment.contains_key("AWS_ACCESS_KEY_ID") {
        NAMES[..3].iter().for_each(|name| drop(options.remove(*name)));
    }
    // The names of others, such as TOKEN, mean something else.
    let is_ours = |key: &str| ["aws_", "google_", "azure_"].iter().any(|vendor| key.starts_with(vendor));
    let ours = environment.into_iter().map(|(key, value)| (key.to_ascii_lowercase(), value));
    options.extend(ours.filter(|(key, _)| is_ours(key)));
    // Servers on this machine and in a test speak plain HTTP, and so does whoever names one.
    let names_http = ["aws_endpoint_url", "aws_endpoint", "aws_endpoint_url_s3", "azure_storage_endpoint"]
        .iter()
        .any(|key| options.get(*key).is_some_and(|endpoint| endpoint.starts_with("http://")));
    if names_http {
        options.entry("aws_allow_http".to_owned()).or_insert_with(|| "true".to_owned());
        options.entry("azure_allow_http".to_owned()).or_insert_with(|| "true".to_owned());
    }
    if let Some(endpoint) = options.get("aws_endpoint_url_s3").cloned() {
        options.insert("aws_endpoint".to_owned(), endpoint);
    }
    options.into_iter().collect()
}

/// The settings of the profile that `AWS_PROFILE` names.
fn of_files(environment: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let home = environment.get("HOME").or_else(|| environment.get("USERPROFILE")).cloned().unwrap_or_default();
    let profile = environment.get("AWS_PROFILE").map_or("default", String::as_str);
    let mut options = BTreeMap::new();
    for (variable, name) in [("AWS_CONFIG_FILE", "config"), ("AWS_SHARED_CREDENTIALS_FILE", "credentials")] {
        let path =
            environment.get(variable).map_or_else(|| PathBuf::from(&home).join(".aws").join(name), PathBuf::from);
        options.extend(of_profile(&std::fs::read_to_string(path).unwrap_or_default(), profile));
    }
    options
}

/// The settings of a profile in the text of a file.
fn of_profile(text: &str, profile: &str) -> BTreeMap<String, String> {
    let mut is_in = false;
    let mut options = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            is_in = name.trim().trim_start_matches("profile ").trim() == profile;
        } else if let Some((key, value)) = line.split_once('=').filter(|_| is_in) {
            let key = key.trim().to_ascii_lowercase();
            if NAMES.contains(&key.as_str()) {
                let key = if key.starts_with("aws_") { key } else { format!("aws_{key}") };
                options.insert(key, value.trim().to_owned());
            }
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_that_is_asked_for_is_read() {
        let text = "[default]\naws_access_key_id = A\n\n[profile two]\nregion=eu-north-1\nAWS_ACCESS_KEY_ID=B\nx = y\n";
        let found =
            |profile: &str| of_profile(text, profile).into_iter().map(|(k, v)| k + ":" + &v).collect::<Vec<_>>();
        assert_eq!(found("default"), ["aws_access_key_id:A"]);
        assert_eq!(found("two"), ["aws_access_key_id:B", "aws_region:eu-north-1"]);
        assert!(found("none").is_empty());
    }
}
