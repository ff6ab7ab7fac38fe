//! Tables.

use super::body::is_hidden;
use super::open::Space;
use super::{Builder, Entry, Is, Mode, Name, Step, Token, is_blank};

impl Builder {
    /// Processes a token that does not belong into a table by the rules of the body, before the table.
    fn before_table(&mut self, token: Token<'_>) -> Step {
        self.fostering = true;
        let step = self.in_body(token);
        self.fostering = false;
        step
    }

    pub(super) fn in_table(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(_) | Token::Nul if self.current().is.any(Is::FOSTERS) => {
                self.original = self.mode;
                self.again_in(Mode::InTableText)
            }
            Token::Comment(text) => self.append_comment(text),
            Token::Start(tag) => match tag.name {
                Name::CAPTION => {
                    self.pop_to(Is::TABLE_SCOPE);
                    self.formatting.push(Entry::Marker);
                    self.insert(tag);
                    self.mode = Mode::InCaption;
                    Step::Done
                }
                Name::COLGROUP => {
                    self.pop_to(Is::TABLE_SCOPE);
                    self.insert(tag);
                    self.mode = Mode::InColumnGroup;
                    Step::Done
                }
                Name::COL => {
                    self.pop_to(Is::TABLE_SCOPE);
                    self.insert_implied(Name::COLGROUP);
                    self.again_in(Mode::InColumnGroup)
                }
                Name::TBODY | Name::TFOOT | Name::THEAD => {
                    self.pop_to(Is::TABLE_SCOPE);
                    self.insert(tag);
                    self.mode = Mode::InTableBody;
                    Step::Done
                }
                Name::TD | Name::TH | Name::TR => {
                    self.pop_to(Is::TABLE_SCOPE);
                    self.insert_implied(Name::TBODY);
                    self.again_in(Mode::InTableBody)
                }
                Name::TABLE if self.end_table() => Step::Again,
                Name::TABLE => Step::Done,
                Name::STYLE | Name::SCRIPT | Name::TEMPLATE => self.in_head(token),
                Name::INPUT if is_hidden(tag) => self.insert_void(tag),
                Name::FORM => {
                    if !self.has_open(Name::TEMPLATE) && self.form.is_none() {
                        self.form = Some(self.insert_closed(tag.name, tag.attrs, Space::Html).id);
                    }
                    Step::Done
                }
                _ => self.before_table(token),
            },
            Token::End(name) => match name {
                Name::TABLE => {
                    self.end_table();
                    Step::Done
                }
                Name::BODY
                | Name::CAPTION
                | Name::COL
                | Name::COLGROUP
                | Name::HTML
                | Name::TBODY
                | Name::TD
                | Name::TFOOT
                | Name::TH
                | Name::THEAD
                | Name::TR => Step::Done,
                Name::TEMPLATE => self.in_head(token),
                _ => self.before_table(token),
            },
            Token::Eof => self.in_body(token),
            Token::Text(_) | Token::Nul => self.before_table(token),
        }
    }

    /// Closes the table in scope. Returns whether there is one.
    fn end_table(&mut self) -> bool {
        let is_open = self.in_table_scope(Name::TABLE);
        if is_open {
            self.pop_through(Name::TABLE);
            self.reset_mode();
        }
        is_open
    }

    pub(super) fn in_table_text(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Nul => return Step::Done,
            Token::Text(text) => {
                self.table_text.push_str(text);
                return Step::Done;
            }
            _ => {}
        }
        let text = std::mem::take(&mut self.table_text);
        if !is_blank(&text) {
            self.before_table(Token::Text(&text));
        } else if !text.is_empty() {
            self.append_text(&text);
        }
        self.again_in(self.original)
    }

    pub(super) fn in_caption(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Start(tag) if is_part(tag.name) => self.end_caption(true),
            Token::End(Name::TABLE) => self.end_caption(true),
            Token::End(Name::CAPTION) => self.end_caption(false),
            Token::End(
                Name::BODY
                | Name::COL
                | Name::COLGROUP
                | Name::HTML
                | Name::TBODY
                | Name::TD
                | Name::TFOOT
                | Name::TH
                | Name::THEAD
                | Name::TR,
            ) => Step::Done,
            _ => self.in_body(token),
        }
    }

    fn end_caption(&mut self, again: bool) -> Step {
        if !self.in_table_scope(Name::CAPTION) {
            return Step::Done;
        }
        self.imply_ends();
        self.pop_through(Name::CAPTION);
        self.clear_formatting_to_marker();
        self.mode = Mode::InTable;
        if again { Step::Again } else { Step::Done }
    }

    pub(super) fn in_column_group(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Text(text) if is_blank(text) => self.append_text(text),
            Token::Comment(text) => self.append_comment(text),
            Token::Start(tag) if tag.name == Name::HTML => self.in_body(token),
            Token::Start(tag) if tag.name == Name::COL => self.insert_void(tag),
            Token::Start(tag) if tag.name == Name::TEMPLATE => self.in_head(token),
            Token::End(Name::TEMPLATE) => self.in_head(token),
            Token::End(Name::COL) => Step::Done,
            Token::Eof => self.in_body(token),
            _ if !self.current_is(Name::COLGROUP) => Step::Done,
            Token::End(Name::COLGROUP) => {
                self.pop();
                self.mode = Mode::InTable;
                Step::Done
            }
            _ => {
                self.pop();
                self.again_in(Mode::InTable)
            }
        }
    }

    pub(super) fn in_table_body(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Start(tag) => match tag.name {
                Name::TR => {
                    self.pop_to(Is::TABLE_BODY);
                    self.insert(tag);
                    self.mode = Mode::InRow;
                    Step::Done
                }
                Name::TH | Name::TD => {
                    self.pop_to(Is::TABLE_BODY);
                    self.insert_implied(Name::TR);
                    self.again_in(Mode::InRow)
                }
                Name::CAPTION | Name::COL | Name::COLGROUP | Name::TBODY | Name::TFOOT | Name::THEAD => {
                    self.end_table_body()
                }
                _ => self.in_table(token),
            },
            Token::End(name) => match name {
                Name::TBODY | Name::TFOOT | Name::THEAD => {
                    if self.in_table_scope(name) {
                        self.pop_to(Is::TABLE_BODY);
                        self.pop();
                        self.mode = Mode::InTable;
                    }
                    Step::Done
                }
                Name::TABLE => self.end_table_body(),
                Name::BODY
                | Name::CAPTION
                | Name::COL
                | Name::COLGROUP
                | Name::HTML
                | Name::TD
                | Name::TH
                | Name::TR => Step::Done,
                _ => self.in_table(token),
            },
            _ => self.in_table(token),
        }
    }

    fn end_table_body(&mut self) -> Step {
        let is_outer = |name: Name| matches!(name, Name::TABLE | Name::TBODY | Name::TFOOT);
        if !self.in_scope_where(Is::TABLE_SCOPE, |open| !open.is_foreign() && is_outer(open.name)) {
            return Step::Done;
        }
        self.pop_to(Is::TABLE_BODY);
        self.pop();
        self.again_in(Mode::InTable)
    }

    pub(super) fn in_row(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Start(tag) => match tag.name {
                Name::TH | Name::TD => {
                    self.pop_to(Is::ROW);
                    self.insert(tag);
                    self.mode = Mode::InCell;
                    self.formatting.push(Entry::Marker);
                    Step::Done
                }
                name if is_part(name) => self.end_row_before(),
                _ => self.in_table(token),
            },
            Token::End(name) => match name {
                Name::TR => {
                    self.end_row();
                    Step::Done
                }
                Name::TABLE => self.end_row_before(),
                Name::TBODY | Name::TFOOT | Name::THEAD if self.in_table_scope(name) => self.end_row_before(),
                Name::TBODY | Name::TFOOT | Name::THEAD => Step::Done,
                Name::BODY | Name::CAPTION | Name::COL | Name::COLGROUP | Name::HTML | Name::TD | Name::TH => {
                    Step::Done
                }
                _ => self.in_table(token),
            },
            _ => self.in_table(token),
        }
    }

    /// Closes the row in scope. Returns whether there is one.
    fn end_row(&mut self) -> bool {
        let is_open = self.in_table_scope(Name::TR);
        if is_open {
            self.pop_to(Is::ROW);
            self.pop();
            self.mode = Mode::InTableBody;
        }
        is_open
    }

    fn end_row_before(&mut self) -> Step {
        if self.end_row() { Step::Again } else { Step::Done }
    }

    pub(super) fn in_cell(&mut self, token: Token<'_>) -> Step {
        match token {
            Token::Start(tag) if is_part(tag.name) => {
                if !self.in_scope_where(Is::TABLE_SCOPE, |open| open.is.any(Is::CELL)) {
                    return Step::Done;
                }
                self.end_cell_before()
            }
            Token::End(name) => match name {
                Name::TD | Name::TH => {
                    if self.in_table_scope(name) {
                        self.imply_ends();
                        self.pop_through(name);
                        self.clear_formatting_to_marker();
                        self.mode = Mode::InRow;
                    }
                    Step::Done
                }
                Name::BODY | Name::CAPTION | Name::COL | Name::COLGROUP | Name::HTML => Step::Done,
                Name::TABLE | Name::TBODY | Name::TFOOT | Name::THEAD | Name::TR => {
                    if self.in_table_scope(name) {
                        self.end_cell_before()
                    } else {
                        Step::Done
                    }
                }
                _ => self.in_body(token),
            },
            _ => self.in_body(token),
        }
    }

    fn end_cell_before(&mut self) -> Step {
        self.imply_ends();
        self.pop_through_where(|open| open.is.any(Is::CELL));
        self.clear_formatting_to_marker();
        self.again_in(Mode::InRow)
    }
}

/// Whether an element is a part of a table.
fn is_part(name: Name) -> bool {
    name.is().any(Is::TABLE_PART) || name == Name::COL
}
