//! Templates, framesets, and what comes after the body.

use super::head::belongs_to_head;
use super::{Builder, Mode, Name, Step, Token, is_blank};
use crate::raw_tree::DOCUMENT;

impl Builder {
    pub(super) fn in_template(&mut self, token: Token<'_>) -> Step {
        let mode = match token {
            Token::Text(_) | Token::Comment(_) => return self.in_body(token),
            Token::Start(tag) => match tag.name {
                name if belongs_to_head(name) => return self.in_head(token),
                Name::CAPTION | Name::COLGROUP | Name::TBODY | Name::TFOOT | Name::THEAD => Mode::InTable,
                Name::COL => Mode::InColumnGroup,
                Name::TR => Mode::InTableBody,
                Name::TD | Name::TH => Mode::InRow,
                _ => Mode::InBody,
            },
            Token::End(Name::TEMPLATE) => return self.in_head(token),
            Token::Eof if self.has_open(Name::TEMPLATE) => {
                self.end_template();
                return Step::Again;
            }
            Token::End(_) | Token::Nul | Token::Eof => return Step::Done,
        };
        self.template_modes.pop();
        self.template_modes.push(mode);
        self.again_in(mode)
    }

    pub(super) fn after_body(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(text) if is_blank(text) => self.in_body(token),
            Token::Comment(text) => self.append_comment_to(self.open.first().map_or(DOCUMENT, |html| html.id), text),
            Token::Start(tag) if tag.name == Name::HTML => self.in_body(token),
            Token::End(Name::HTML) => {
                self.mode = Mode::AfterAfterBody;
                Step::Done
            }
            Token::Eof => Step::Done,
            _ => self.again_in(Mode::InBody),
        }
    }

    pub(super) fn after_after_body(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(text) if is_blank(text) => self.in_body(token),
            Token::Comment(text) => self.append_comment_to(DOCUMENT, text),
            Token::Start(tag) if tag.name == Name::HTML => self.in_body(token),
            Token::Eof => Step::Done,
            _ => self.again_in(Mode::InBody),
        }
    }

    pub(super) fn in_frameset(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(text) if is_blank(text) => self.append_text(text),
            Token::Comment(text) => self.append_comment(text),
            Token::Start(tag) => match tag.name {
                Name::HTML => self.in_body(token),
                Name::FRAMESET => {
                    self.insert(tag);
                    Step::Done
                }
                Name::FRAME => self.insert_void(tag),
                Name::NOFRAMES => self.in_head(token),
                _ => Step::Done,
            },
            Token::End(Name::FRAMESET) if self.open.len() > 1 => {
                self.pop();
                if !self.current_is(Name::FRAMESET) {
                    self.mode = Mode::AfterFrameset;
                }
                Step::Done
            }
            _ => Step::Done,
        }
    }

    pub(super) fn after_frameset(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(text) if is_blank(text) => self.append_text(text),
            Token::Comment(text) => self.append_comment(text),
            Token::Start(tag) if tag.name == Name::HTML => self.in_body(token),
            Token::Start(tag) if tag.name == Name::NOFRAMES => self.in_head(token),
            Token::End(Name::HTML) => {
                self.mode = Mode::AfterAfterFrameset;
                Step::Done
            }
            _ => Step::Done,
        }
    }

    pub(super) fn after_after_frameset(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(text) if is_blank(text) => self.in_body(token),
            Token::Comment(text) => self.append_comment_to(DOCUMENT, text),
            Token::Start(tag) if tag.name == Name::HTML => self.in_body(token),
            Token::Start(tag) if tag.name == Name::NOFRAMES => self.in_head(token),
            _ => Step::Done,
        }
    }
}
