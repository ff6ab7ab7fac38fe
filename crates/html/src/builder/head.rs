//! The modes before the body.

use super::{Builder, Content, Entry, Mode, Name, Step, Token, is_blank};
use crate::raw_tree::DOCUMENT;

impl Builder {
    pub(super) fn initial(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(text) if is_blank(text) => Step::Done,
            Token::Comment(text) => self.append_comment_to(DOCUMENT, text),
            _ => {
                self.quirks = true;
                self.again_in(Mode::BeforeHtml)
            }
        }
    }

    pub(super) fn before_html(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Comment(text) => self.append_comment_to(DOCUMENT, text),
            Token::Text(text) if is_blank(text) => Step::Done,
            Token::Start(tag) if tag.name == Name::HTML => {
                self.create_root(tag.attrs);
                self.mode = Mode::BeforeHead;
                Step::Done
            }
            Token::End(name) if !is_end_of_page(name) => Step::Done,
            _ => {
                self.create_root(&[]);
                self.again_in(Mode::BeforeHead)
            }
        }
    }

    pub(super) fn before_head(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(text) if is_blank(text) => Step::Done,
            Token::Comment(text) => self.append_comment(text),
            Token::Start(tag) if tag.name == Name::HTML => self.in_body(token),
            Token::Start(tag) if tag.name == Name::HEAD => {
                self.head = Some(self.insert(tag));
                self.mode = Mode::InHead;
                Step::Done
            }
            Token::End(name) if !is_end_of_page(name) => Step::Done,
            _ => {
                self.head = Some(self.insert_implied(Name::HEAD));
                self.again_in(Mode::InHead)
            }
        }
    }

    pub(super) fn in_head(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(text) if is_blank(text) => self.append_text(text),
            Token::Comment(text) => self.append_comment(text),
            Token::Start(tag) => match tag.name {
                Name::HTML => self.in_body(token),
                Name::BASE | Name::BASEFONT | Name::BGSOUND | Name::LINK | Name::META => self.insert_void(tag),
                Name::TITLE => self.insert_with_text(tag, Content::WithReferences),
                Name::NOSCRIPT if !self.scripting => {
                    self.insert(tag);
                    self.mode = Mode::InHeadNoscript;
                    Step::Done
                }
                Name::NOFRAMES | Name::STYLE | Name::NOSCRIPT => self.insert_with_text(tag, Content::Plain),
                Name::SCRIPT => self.insert_with_text(tag, Content::Script),
                Name::TEMPLATE => {
                    self.formatting.push(Entry::Marker);
                    self.frameset_ok = false;
                    self.mode = Mode::InTemplate;
                    self.template_modes.push(Mode::InTemplate);
                    self.insert(tag);
                    Step::Done
                }
                Name::HEAD => Step::Done,
                _ => self.end_head(),
            },
            Token::End(Name::HEAD) => {
                self.pop();
                self.mode = Mode::AfterHead;
                Step::Done
            }
            Token::End(Name::TEMPLATE) => {
                if self.has_open(Name::TEMPLATE) {
                    self.imply_all_ends();
                    self.end_template();
                }
                Step::Done
            }
            Token::End(Name::BODY | Name::HTML | Name::BR) => self.end_head(),
            Token::End(_) => Step::Done,
            Token::Text(_) | Token::Nul | Token::Eof => self.end_head(),
        }
    }

    fn end_head(&mut self) -> Step {
        self.pop();
        self.again_in(Mode::AfterHead)
    }

    /// Closes the innermost template.
    pub(super) fn end_template(&mut self) {
        self.pop_through(Name::TEMPLATE);
        self.clear_formatting_to_marker();
        self.template_modes.pop();
        self.reset_mode();
    }

    pub(super) fn in_head_noscript(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(text) if is_blank(text) => self.in_head(token),
            Token::Comment(_) => self.in_head(token),
            Token::Start(tag) => match tag.name {
                Name::HTML => self.in_body(token),
                Name::BASEFONT | Name::BGSOUND | Name::LINK | Name::META | Name::NOFRAMES | Name::STYLE => {
                    self.in_head(token)
                }
                Name::HEAD | Name::NOSCRIPT => Step::Done,
                _ => self.end_head_noscript(),
            },
            Token::End(Name::NOSCRIPT) => {
                self.pop();
                self.mode = Mode::InHead;
                Step::Done
            }
            Token::End(name) if name != Name::BR => Step::Done,
            _ => self.end_head_noscript(),
        }
    }

    fn end_head_noscript(&mut self) -> Step {
        self.pop();
        self.again_in(Mode::InHead)
    }

    pub(super) fn after_head(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(text) if is_blank(text) => self.append_text(text),
            Token::Comment(text) => self.append_comment(text),
            Token::Start(tag) => match tag.name {
                Name::HTML => self.in_body(token),
                Name::BODY => {
                    self.insert(tag);
                    self.frameset_ok = false;
                    self.mode = Mode::InBody;
                    Step::Done
                }
                Name::FRAMESET => {
                    self.insert(tag);
                    self.mode = Mode::InFrameset;
                    Step::Done
                }
                name if belongs_to_head(name) => self.in_head_again(token),
                Name::HEAD => Step::Done,
                _ => self.begin_body(),
            },
            Token::End(Name::TEMPLATE) => self.in_head(token),
            Token::End(name) if !matches!(name, Name::BODY | Name::HTML | Name::BR) => Step::Done,
            _ => self.begin_body(),
        }
    }

    /// Puts what comes too late into the head.
    fn in_head_again(&mut self, token: Token<'_>) -> Step {
        let Some(head) = self.head else { return self.in_head(token) };
        self.open.push(head);
        let step = self.in_head(token);
        self.close(head.id);
        step
    }

    fn begin_body(&mut self) -> Step {
        self.insert_implied(Name::BODY);
        self.again_in(Mode::InBody)
    }
}

/// End tags before which the elements that are not there yet are inserted.
fn is_end_of_page(name: Name) -> bool {
    matches!(name, Name::HEAD | Name::BODY | Name::HTML | Name::BR)
}

/// Elements that are inserted as in the head, wherever they are.
pub(super) fn belongs_to_head(name: Name) -> bool {
    matches!(
        name,
        Name::BASE
            | Name::BASEFONT
            | Name::BGSOUND
            | Name::LINK
            | Name::META
            | Name::NOFRAMES
            | Name::SCRIPT
            | Name::STYLE
            | Name::TEMPLATE
            | Name::TITLE
    )
}
