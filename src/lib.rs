//! dehusk (draft)
pub mod page; pub mod settings; pub mod dom; pub mod links; pub mod subdigraph; pub mod template; pub mod clean; pub mod learner; pub mod folder; pub mod methods; pub mod evaluate; pub mod cli; pub mod frontier; pub mod robots; pub mod fetch; pub mod store; pub mod crawl; pub mod seeds; pub mod demo;
