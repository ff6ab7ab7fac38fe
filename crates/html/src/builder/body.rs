//! The body.

use super::head::belongs_to_head;
use super::open::{BUTTON_SCOPE, LIST_SCOPE, SCOPE, Space};
use super::{Builder, Content, Entry, Is, Mode, Name, Step, Token, is_blank};
use crate::tokenizer::StartTag;

impl Builder {
    #[inline(always)]
    pub(super) fn in_body(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(text) => {
                self.reconstruct_formatting();
                self.frameset_ok = self.frameset_ok && is_blank(text);
                self.append_text(text)
            }
            Token::Start(tag) => self.start_in_body(tag, token),
            Token::End(name) => self.end_in_body(name, token),
            Token::Comment(text) => self.append_comment(text),
            Token::Eof if !self.template_modes.is_empty() => self.in_template(token),
            Token::Nul | Token::Eof => Step::Done,
        }
    }

    fn start_in_body(&mut self, tag: &StartTag<'_>, token: Token<'_>) -> Step {
        match tag.name {
            name if name == Name::P || is_block(name) => {
                self.close_p_in_button_scope();
                self.insert(tag);
            }
            Name::A => {
                self.end_open_link();
                self.reconstruct_formatting();
                self.insert_formatting(tag);
            }
            Name::B
            | Name::BIG
            | Name::CODE
            | Name::EM
            | Name::FONT
            | Name::I
            | Name::S
            | Name::SMALL
            | Name::STRIKE
            | Name::STRONG
            | Name::TT
            | Name::U => {
                self.reconstruct_formatting();
                self.insert_formatting(tag);
            }
            Name::LI | Name::DD | Name::DT => self.begin_item(tag),
            Name::AREA | Name::BR | Name::EMBED | Name::IMG | Name::KEYGEN | Name::WBR => {
                self.reconstruct_formatting();
                self.insert_void(tag);
                self.frameset_ok = false;
            }
            Name::H1 | Name::H2 | Name::H3 | Name::H4 | Name::H5 | Name::H6 => {
                self.close_p_in_button_scope();
                if self.current().is.any(Is::HEADING) {
                    self.pop();
                }
                self.insert(tag);
            }
            name if belongs_to_head(name) => return self.in_head(token),
            Name::HTML => {
                if let Some(html) = self.open.first().map(|html| html.id)
                    && !self.has_open(Name::TEMPLATE)
                {
                    self.add_missing_attributes(html, tag);
                }
            }
            Name::BODY => {
                if let Some(body) = self.body()
                    && !self.has_open(Name::TEMPLATE)
                {
                    self.frameset_ok = false;
                    self.add_missing_attributes(body, tag);
                }
            }
            Name::FRAMESET => {
                if let Some(body) = self.body()
                    && self.frameset_ok
                {
                    self.tree.unlink(body);
                    self.open.truncate(1);
                    self.insert(tag);
                    self.mode = Mode::InFrameset;
                }
            }
            Name::CAPTION
            | Name::COL
            | Name::COLGROUP
            | Name::FRAME
            | Name::HEAD
            | Name::TBODY
            | Name::TD
            | Name::TFOOT
            | Name::TH
            | Name::THEAD
            | Name::TR => {}
            _ => return self.start_other(tag),
        }
        Step::Done
    }

    /// Start tags that are less frequent.
    fn start_other(&mut self, tag: &StartTag<'_>) -> Step {
        match tag.name {
            Name::PRE | Name::LISTING => {
                self.close_p_in_button_scope();
                self.insert(tag);
                self.ignore_lf = true;
                self.frameset_ok = false;
            }
            Name::FORM => {
                let in_template = self.has_open(Name::TEMPLATE);
                if self.form.is_none() || in_template {
                    self.close_p_in_button_scope();
                    let form = self.insert(tag);
                    if !in_template {
                        self.form = Some(form.id);
                    }
                }
            }
            Name::PLAINTEXT => {
                self.close_p_in_button_scope();
                self.insert(tag);
                return Step::Then(Content::Plaintext);
            }
            Name::BUTTON => {
                if self.in_scope(SCOPE, Name::BUTTON) {
                    self.imply_ends();
                    self.pop_through(Name::BUTTON);
                }
                self.reconstruct_formatting();
                self.insert(tag);
                self.frameset_ok = false;
            }
            Name::NOBR => {
                self.reconstruct_formatting();
                if self.in_scope(SCOPE, Name::NOBR) {
                    self.adopt(Name::NOBR);
                    self.reconstruct_formatting();
                }
                self.insert_formatting(tag);
            }
            Name::APPLET | Name::MARQUEE | Name::OBJECT => {
                self.reconstruct_formatting();
                self.insert(tag);
                self.formatting.push(Entry::Marker);
                self.frameset_ok = false;
            }
            Name::TABLE => {
                if !self.quirks {
                    self.close_p_in_button_scope();
                }
                self.insert(tag);
                self.frameset_ok = false;
                self.mode = Mode::InTable;
            }
            Name::INPUT => {
                if self.in_scope(SCOPE, Name::SELECT) {
                    self.pop_through(Name::SELECT);
                }
                self.reconstruct_formatting();
                self.insert_void(tag);
                self.frameset_ok = self.frameset_ok && is_hidden(tag);
            }
            Name::PARAM | Name::SOURCE | Name::TRACK => return self.insert_void(tag),
            Name::HR => {
                self.close_p_in_button_scope();
                if self.in_scope(SCOPE, Name::SELECT) {
                    self.imply_ends();
                }
                self.insert_void(tag);
                self.frameset_ok = false;
            }
            Name::IMAGE => return self.in_body(Token::Start(&StartTag { name: Name::IMG, ..*tag })),
            Name::TEXTAREA => {
                self.ignore_lf = true;
                self.frameset_ok = false;
                return self.insert_with_text(tag, Content::WithReferences);
            }
            Name::XMP => {
                self.close_p_in_button_scope();
                self.reconstruct_formatting();
                self.frameset_ok = false;
                return self.insert_with_text(tag, Content::Plain);
            }
            Name::IFRAME => {
                self.frameset_ok = false;
                return self.insert_with_text(tag, Content::Plain);
            }
            Name::NOEMBED => return self.insert_with_text(tag, Content::Plain),
            Name::NOSCRIPT if self.scripting => return self.insert_with_text(tag, Content::Plain),
            Name::SELECT => {
                if self.in_scope(SCOPE, Name::SELECT) {
                    self.pop_through(Name::SELECT);
                } else {
                    self.reconstruct_formatting();
                    self.insert(tag);
                    self.frameset_ok = false;
                }
            }
            Name::OPTION | Name::OPTGROUP => self.begin_option(tag),
            Name::RB | Name::RTC | Name::RP | Name::RT => {
                if self.in_scope(SCOPE, Name::RUBY) {
                    let within_rtc = matches!(tag.name, Name::RP | Name::RT);
                    self.imply_ends_except(if within_rtc { Name::RTC } else { Name::NONE });
                }
                self.insert(tag);
            }
            Name::MATH => {
                self.reconstruct_formatting();
                return self.insert_foreign(tag, tag.name, Space::MathMl);
            }
            Name::SVG => {
                self.reconstruct_formatting();
                return self.insert_foreign(tag, tag.name, Space::Svg);
            }
            _ => {
                self.reconstruct_formatting();
                self.insert(tag);
            }
        }
        Step::Done
    }

    /// The body, if it is the second open element.
    fn body(&self) -> Option<u32> {
        self.open.get(1).filter(|open| open.is_html(Name::BODY)).map(|body| body.id)
    }

    /// An item of a list, before which an open one ends.
    fn begin_item(&mut self, tag: &StartTag<'_>) {
        self.frameset_ok = false;
        let is_item = |name: Name| match tag.name {
            Name::LI => name == Name::LI,
            _ => matches!(name, Name::DD | Name::DT),
        };
        let stops = |name: Name| name.is().any(Is::SPECIAL) && !matches!(name, Name::ADDRESS | Name::DIV | Name::P);
        let mut html = self.open.iter().rev().filter(|open| !open.is_foreign()).map(|open| open.name);
        let found = html.find(|name| is_item(*name) || stops(*name));
        if let Some(item) = found.filter(|name| is_item(*name)) {
            self.close_through(item);
        }
        self.close_p_in_button_scope();
        self.insert(tag);
    }

    fn begin_option(&mut self, tag: &StartTag<'_>) {
        if self.in_scope(SCOPE, Name::SELECT) {
            let is_option = tag.name == Name::OPTION;
            self.imply_ends_except(if is_option { Name::OPTGROUP } else { Name::NONE });
        } else if self.current_is(Name::OPTION) {
            self.pop();
        }
        self.reconstruct_formatting();
        self.insert(tag);
    }

    fn end_in_body(&mut self, name: Name, token: Token<'_>) -> Step {
        match name {
            Name::BUTTON | Name::LISTING | Name::PRE | Name::SELECT => {
                self.end_block(name);
            }
            _ if is_block(name) => {
                self.end_block(name);
            }
            Name::A
            | Name::B
            | Name::BIG
            | Name::CODE
            | Name::EM
            | Name::FONT
            | Name::I
            | Name::NOBR
            | Name::S
            | Name::SMALL
            | Name::STRIKE
            | Name::STRONG
            | Name::TT
            | Name::U => self.adopt(name),
            Name::P => {
                if !self.in_scope(BUTTON_SCOPE, Name::P) {
                    self.insert_implied(Name::P);
                }
                self.close_through(Name::P);
            }
            Name::LI | Name::DD | Name::DT => {
                if self.in_scope(if name == Name::LI { LIST_SCOPE } else { SCOPE }, name) {
                    self.close_through(name);
                }
            }
            Name::H1 | Name::H2 | Name::H3 | Name::H4 | Name::H5 | Name::H6 => {
                if self.in_scope_where(SCOPE, |open| open.is.any(Is::HEADING)) {
                    self.imply_ends();
                    self.pop_through_where(|open| open.is.any(Is::HEADING));
                }
            }
            Name::APPLET | Name::MARQUEE | Name::OBJECT => {
                if self.end_block(name) {
                    self.clear_formatting_to_marker();
                }
            }
            Name::FORM => self.end_form(),
            Name::BODY | Name::HTML if !self.in_scope(SCOPE, Name::BODY) => {}
            Name::BODY => self.mode = Mode::AfterBody,
            Name::HTML => return self.again_in(Mode::AfterBody),
            Name::TEMPLATE => return self.in_head(token),
            Name::BR => {
                let tag = StartTag { name: Name::BR, attrs: &[], is_self_closing: false };
                return self.in_body(Token::Start(&tag));
            }
            _ => self.end_other(name),
        }
        Step::Done
    }

    /// Closes an element that is in scope. Returns whether there is one.
    fn end_block(&mut self, name: Name) -> bool {
        let is_open = self.in_scope(SCOPE, name);
        if is_open {
            self.imply_ends();
            self.pop_through(name);
        }
        is_open
    }

    fn end_form(&mut self) {
        if self.has_open(Name::TEMPLATE) {
            self.end_block(Name::FORM);
            return;
        }
        let Some(form) = self.form.take() else { return };
        if self.in_scope_where(SCOPE, |open| open.id == form) {
            self.imply_ends();
            self.close(form);
        }
    }

    /// An end tag that no rule names: closes the element, unless a special one is open in it.
    pub(super) fn end_other(&mut self, name: Name) {
        let found = self.open.iter().rposition(|open| open.is_html(name) || open.is.any(Is::SPECIAL));
        if let Some(place) = found.filter(|place| self.open[*place].is_html(name)) {
            self.imply_ends_except(name);
            self.open.truncate(place);
        }
    }
}

/// Whether an input is hidden.
pub(super) fn is_hidden(tag: &StartTag<'_>) -> bool {
    tag.attrs.iter().any(|attr| attr.name == Name::TYPE && attr.value.eq_ignore_ascii_case("hidden"))
}

/// Elements that end a paragraph, and whose end tags close what is open in them.
fn is_block(name: Name) -> bool {
    matches!(
        name,
        Name::ADDRESS
            | Name::ARTICLE
            | Name::ASIDE
            | Name::BLOCKQUOTE
            | Name::CENTER
            | Name::DETAILS
            | Name::DIALOG
            | Name::DIR
            | Name::DIV
            | Name::DL
            | Name::FIELDSET
            | Name::FIGCAPTION
            | Name::FIGURE
            | Name::FOOTER
            | Name::HEADER
            | Name::HGROUP
            | Name::MAIN
            | Name::MENU
            | Name::NAV
            | Name::OL
            | Name::SEARCH
            | Name::SECTION
            | Name::SUMMARY
            | Name::UL
    )
}
