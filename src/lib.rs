//! dehusk (draft)
pub mod page; pub mod settings; pub mod dom; pub mod links; pub mod subdigraph; pub mod template; pub mod clean; pub mod learner; pub mod folder; pub mod methods; pub mod evaluate; pub mod cli;
