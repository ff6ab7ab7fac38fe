//! Reads templates stored by earlier versions.

use serde::de::Error as _;
use serde_json::{Error, Map, Value};

use super::SCHEMA;
use super::stored::Template;

/// Renamed fields: former name, current name.
const FIELDS: [(&str, &str); 5] = [
    ("n", "n_wanted"),
    ("m", "n_voters"),
    ("t", "min_votes"),
    ("standing", "key_coverage"),
    ("witnesses", "training_set"),
];

/// Parameters: former name, current group, current name. They used to be in one flat table.
const PARAMETERS: [(&str, &str, &str); 27] = [
    ("same_site", "links", "same_site"),
    ("slug_dirs", "links", "slug_dirs"),
    ("dom_ref", "links", "dom_ref"),
    ("max_links", "links", "max"),
    ("skip_nofollow", "links", "skip_nofollow"),
    ("link_order", "links", "order"),
    ("subdigraph", "search", "mode"),
    ("n", "search", "n"),
    ("max_loads", "search", "max_loads"),
    ("max_requests", "search", "max_requests"),
    ("stop_after", "search", "stop_after"),
    ("t", "etdm", "min_votes"),
    ("weights", "etdm", "weights"),
    ("attr_mode", "etdm", "attr_mode"),
    ("child_map", "etdm", "child_map"),
    ("keep_order", "etdm", "keep_order"),
    ("text", "etdm", "text"),
    ("ignore_generated", "etdm", "ignore_generated"),
    ("large_pairs", "etdm", "large_pairs"),
    ("apply_min", "etdm", "min_confidence"),
    ("witness_threshold", "site_model", "threshold"),
    ("witness_nodes", "site_model", "max_nodes"),
    ("witness_children", "site_model", "max_children"),
    ("witness_pairs", "site_model", "max_pairs"),
    ("witness_names", "site_model", "max_names"),
    ("witness_further", "site_model", "extra_pages"),
    ("label", "", "label_by"),
];

/// Converts a template of schema 1 or 2 to the current schema.
pub(super) fn upgrade(mut template: Map<String, Value>) -> Result<Template, Error> {
    for (former, now) in FIELDS {
        if let Some(value) = template.remove(former) {
            template.insert(now.to_owned(), value);
        }
    }
    template.insert("schema".to_owned(), SCHEMA.into());
    let Some(Value::Object(mut flat)) = template.remove("learn") else {
        return Err(Error::custom("its parameters are missing"));
    };
    // A template without the parameter `label` was learned when votes were the only method.
    let mut learn = Map::from_iter([("label_by".to_owned(), Value::from("votes"))]);
    for group in ["links", "search", "etdm", "site_model"] {
        learn.insert(group.to_owned(), Value::Object(Map::new()));
    }
    for (former, group, now) in PARAMETERS {
        let Some(value) = flat.remove(former) else { continue };
        match learn.get_mut(group) {
            Some(Value::Object(group)) => group.insert(now.to_owned(), value),
            _ => learn.insert(now.to_owned(), value),
        };
    }
    template.insert("learn".to_owned(), Value::Object(learn));
    serde_json::from_value(Value::Object(template))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn_options::{LabelBy, LearnOptions, Preset};
    use crate::method::Method;

    /// A template of version 0.1 with the parameters of the thesis, reduced to one node.
    const SCHEMA_1: &str = r#"{"schema":1,"method":"etdm","host":"a.org","key_url":"http://a.org/","voters":[],
        "loads":3,"n":3,"m":2,"t":2,"key_nodes":9,"approximate":false,"learn":{"same_site":"host","slug_dirs":false,
        "dom_ref":"class","max_links":5000,"skip_nofollow":false,"link_order":"paper","subdigraph":"complete","n":3,
        "max_loads":24,"max_requests":48,"t":2,"weights":{"class":0.5,"attributes":0.2,"children":0.1,"position":0.2,
        "no_class":0.99,"no_attributes":0.25,"no_children":1.0,"threshold":0.7,"threshold_inclusive":false,
        "exact_wins":false},"attr_mode":"name_value","child_map":"greedy","keep_order":true,"text":"structural",
        "ignore_generated":false,"large_pairs":250000,"apply_min":0.15,"label":"votes","witness_threshold":0.35,
        "witness_nodes":20000,"witness_children":350,"witness_pairs":4096,"witness_names":50000,"witness_further":16,
        "stop_after":0},"nodes":[{"p":0,"n":"body","k":1,"v":2}]}"#;

    #[test]
    fn templates_of_version_0_1_are_read() {
        let template = Template::from_json(SCHEMA_1.as_bytes()).unwrap();
        assert_eq!((template.n_wanted, template.n_voters, template.min_votes), (3, 2, 2));
        assert_eq!((template.schema, template.method), (SCHEMA, Method::Etdm));
        let mut expected = Preset::Thesis2014.learn();
        expected.site_model.extra_pages = 16;
        assert_eq!(template.learn, expected);
        assert_eq!(Template::from_json(&template.to_json()).unwrap(), template);
    }

    #[test]
    fn a_parameter_that_did_not_exist_has_the_value_of_what_was_done_then() {
        let start = SCHEMA_1.find("\"learn\":").unwrap();
        let end = SCHEMA_1.find(",\"nodes\"").unwrap();
        let bare = format!("{}\"learn\":{{}}{}", &SCHEMA_1[..start], &SCHEMA_1[end..]);
        assert_eq!(Template::from_json(bare.as_bytes()).unwrap().learn, Preset::Thesis2014.learn());
        let missing = SCHEMA_1.replace("\"learn\"", "\"lern\"");
        assert!(Template::from_json(missing.as_bytes()).unwrap_err().to_string().contains("parameters are missing"));
    }

    #[test]
    fn parameters_of_the_site_model_are_read_by_their_former_names() {
        let text = SCHEMA_1
            .replace("\"label\":\"votes\"", "\"label\":\"witness\"")
            .replace("\"method\":\"etdm\"", "\"method\":\"witness\"");
        let template =
            Template::from_json(text.replace("\"witness_nodes\":20000", "\"witness_nodes\":7").as_bytes()).unwrap();
        assert_eq!(template.method, Method::SiteModel);
        let LearnOptions { label_by, site_model, .. } = template.learn;
        assert_eq!((label_by, site_model.max_nodes), (LabelBy::SiteModel, 7));
    }
}
