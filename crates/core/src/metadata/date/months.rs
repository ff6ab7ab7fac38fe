//! Names of months, of calendars and of eras, in the languages that most pages of the web are in.

/// Names of the months and their abbreviations, in lower case.
#[rustfmt::skip]
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "jänner", "janvier", "janv", "enero", "ene", "gennaio", "gen", "januari", "janeiro", "styczeń", "stycznia", "января", "янв", "januára", "ledna", "ocak", "ιανουαρίου", "ianuarie", "tammikuuta", "január", "січня", "يناير", "януари", "ינואר", "בינואר", "sausio", "jaanuar", "gener", "siječnja", "janvārī", "जनवरी", "มกราคม", "ม.ค", "ژانویه"],
    &["february", "feb", "februar", "februari", "février", "févr", "fév", "febrero", "febbraio", "fevereiro", "fev", "luty", "lutego", "февраля", "фев", "února", "şubat", "φεβρουαρίου", "februarie", "helmikuuta", "február", "лютого", "فبراير", "февруари", "פברואר", "בפברואר", "vasario", "veebruar", "febrer", "veljače", "februārī", "फ़रवरी", "फरवरी", "กุมภาพันธ์", "ก.พ", "فوریه"],
    &["march", "mar", "märz", "mär", "mrz", "mars", "marzo", "maart", "mrt", "março", "marzec", "marca", "марта", "мар", "března", "mart", "μαρτίου", "martie", "maaliskuuta", "március", "березня", "marts", "مارس", "март", "maret", "mac", "מרץ", "במרץ", "kovo", "märts", "març", "ožujka", "martā", "मार्च", "มีนาคม", "มี.ค"],
    &["april", "apr", "avril", "avr", "abril", "abr", "aprile", "kwiecień", "kwietnia", "апреля", "апр", "dubna", "nisan", "απριλίου", "aprilie", "huhtikuuta", "április", "квітня", "أبريل", "ابريل", "април", "אפריל", "באפריל", "balandžio", "aprill", "travnja", "aprīlī", "अप्रैल", "เมษายน", "เม.ย", "آوریل"],
    &["may", "mai", "mayo", "maggio", "mag", "mei", "maio", "maj", "maja", "мая", "май", "května", "mayıs", "μαΐου", "toukokuuta", "május", "травня", "مايو", "מאי", "במאי", "gegužės", "maig", "svibnja", "maijā", "मई", "พฤษภาคม", "พ.ค", "مه"],
    &["june", "jun", "juni", "juin", "junio", "giugno", "giu", "junho", "czerwiec", "czerwca", "июня", "июн", "června", "haziran", "ιουνίου", "iunie", "kesäkuuta", "június", "червня", "يونيو", "юни", "יוני", "ביוני", "birželio", "juuni", "juny", "lipnja", "jūnijā", "जून", "มิถุนายน", "มิ.ย", "ژوئن"],
    &["july", "jul", "juli", "juillet", "juil", "julio", "luglio", "lug", "julho", "lipiec", "lipca", "июля", "июл", "července", "temmuz", "ιουλίου", "iulie", "heinäkuuta", "július", "липня", "يوليو", "юли", "יולי", "ביולי", "liepos", "juuli", "juliol", "srpnja", "jūlijā", "जुलाई", "กรกฎาคม", "ก.ค", "ژوئیه"],
    &["august", "aug", "août", "aout", "agosto", "ago", "augustus", "sierpień", "sierpnia", "августа", "авг", "srpna", "ağustos", "αυγούστου", "elokuuta", "augusztus", "серпня", "augusti", "أغسطس", "اغسطس", "август", "agustus", "ogos", "אוגוסט", "באוגוסט", "rugpjūčio", "agost", "kolovoza", "avgust", "augustā", "अगस्त", "สิงหาคม", "ส.ค", "اوت"],
    &["september", "sep", "sept", "septembre", "septiembre", "settembre", "set", "setembro", "wrzesień", "września", "сентября", "сен", "září", "eylül", "σεπτεμβρίου", "septembrie", "syyskuuta", "szeptember", "вересня", "سبتمبر", "септември", "ספטמבר", "בספטמבר", "rugsėjo", "setembre", "rujna", "septembar", "septembrī", "सितंबर", "सितम्बर", "กันยายน", "ก.ย", "سپتامبر"],
    &["october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre", "ott", "outubro", "out", "październik", "października", "октября", "окт", "října", "ekim", "οκτωβρίου", "octombrie", "lokakuuta", "október", "жовтня", "أكتوبر", "اكتوبر", "октомври", "אוקטובר", "באוקטובר", "spalio", "oktoober", "oktobar", "oktobrī", "अक्टूबर", "अक्तूबर", "ตุลาคม", "ต.ค", "اکتبر"],
    &["november", "nov", "novembre", "noviembre", "novembro", "listopad", "listopada", "ноября", "ноя", "kasım", "νοεμβρίου", "noiembrie", "marraskuuta", "листопада", "نوفمبر", "ноември", "נובמבר", "בנובמבר", "lapkričio", "studenoga", "novembar", "novembrī", "नवंबर", "नवम्बर", "พฤศจิกายน", "พ.ย", "نوامبر"],
    &["december", "dec", "dezember", "dez", "décembre", "déc", "diciembre", "dic", "dicembre", "dezembro", "grudzień", "grudnia", "декабря", "дек", "prosince", "aralık", "δεκεμβρίου", "decembrie", "joulukuuta", "грудня", "desember", "disember", "ديسمبر", "декември", "דצמבר", "בדצמבר", "gruodžio", "detsember", "desembre", "prosinca", "decembar", "decembrī", "दिसंबर", "दिसम्बर", "ธันวาคม", "ธ.ค", "دسامبر"],
];

/// The months of the Solar Hijri calendar of Iran.
#[rustfmt::skip]
const SOLAR_HIJRI: [&str; 12] = [
    "فروردین", "اردیبهشت", "خرداد", "تیر", "مرداد", "شهریور", "مهر", "آبان", "آذر", "دی", "بهمن", "اسفند",
];

/// The year before the first one of a Japanese era.
const ERAS: [(&str, u64); 3] = [("令和", 2018), ("平成", 1988), ("昭和", 1925)];

/// Number of the month with this name, from 1.
pub(crate) fn month(word: &str) -> Option<u64> {
    let word = word.trim_end_matches('.').to_lowercase();
    MONTHS.iter().position(|names| names.contains(&word.as_str())).map(|at| at as u64 + 1)
}

/// Number of the month of Iran's calendar with this name, from 1.
pub(super) fn solar_hijri_month(word: &str) -> Option<u64> {
    SOLAR_HIJRI.iter().position(|name| *name == word).map(|at| at as u64 + 1)
}

/// The year before the era that a word names, and what follows the name.
pub(super) fn era(word: &str) -> Option<(u64, &str)> {
    ERAS.iter().find_map(|(name, before)| Some((*before, word.strip_prefix(name)?)))
}
