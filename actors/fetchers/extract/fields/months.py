"""Names the months in the languages that pages are mostly written in."""

from __future__ import annotations

from types import MappingProxyType

_NAMES = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari január ledna leden stycznia styczeń sty "
    "января январь янв січня січень січ ocak oca tammikuuta tammikuu ιανουαρίου ιανουάριος ιαν ianuarie ian януари",
    "february feb februar février févr fevrier febrero febbraio fevereiro fev februari február února únor lutego luty lut "
    "февраля февраль фев лютого лютий лют şubat şub helmikuuta helmikuu φεβρουαρίου φεβρουάριος φεβ februarie февруари",
    "march mar märz maerz mär mrz mars marzo março maart mrt marts marca marec března březen marca marzec "
    "марта март мар березня березень бер mart maaliskuuta maaliskuu μαρτίου μάρτιος μαρ martie március márc",
    "april apr avril avr abril abr aprile apríla apríl dubna duben kwietnia kwiecień kwi "
    "апреля апрель апр квітня квітень кві nisan nis huhtikuuta huhtikuu απριλίου απρίλιος απρ aprilie április ápr април",
    "may mai mayo maggio mag maio mei maj maja mája máj května květen "
    "мая май травня травень тра mayıs toukokuuta toukokuu μαΐου μάιος μαϊ május",
    "june jun juni juin junio giugno giu junho júna jún června červen czerwca czerwiec cze "
    "июня июнь июн червня червень чер haziran haz kesäkuuta kesäkuu ιουνίου ιούνιος ιουν iunie június юни",
    "july jul juli juillet juil julio luglio lug julho júla júl července červenec lipca lipiec lip "
    "июля июль июл липня липень лип temmuz tem heinäkuuta heinäkuu ιουλίου ιούλιος ιουλ iulie július юли",
    "august aug août aout agosto ago augustus augusti augusta srpna srpen sierpnia sierpień sie "
    "августа август авг серпня серпень сер ağustos ağu elokuuta elokuu αυγούστου αύγουστος αυγ augusztus",
    "september sept sep septembre septiembre settembre set setembro septembra září września wrzesień wrz "
    "сентября сентябрь сен вересня вересень вер eylül eyl syyskuuta syyskuu σεπτεμβρίου σεπτέμβριος σεπ septembrie "
    "szeptember szept септември",
    "october oct oktober okt octobre octubre ottobre ott outubro out oktobra október října říjen października październik "
    "paź октября октябрь окт жовтня жовтень жов ekim eki lokakuuta lokakuu οκτωβρίου οκτώβριος οκτ octombrie октомври",
    "november nov novembre noviembre novembro novembra listopadu listopada listopad lis "
    "ноября ноябрь ноя листопада листопад лис kasım kas marraskuuta marraskuu νοεμβρίου νοέμβριος νοε noiembrie ноември",
    "december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro desember des decembra prosince "
    "prosinec grudnia grudzień gru декабря декабрь дек грудня грудень гру aralık ara joulukuuta joulukuu δεκεμβρίου "
    "δεκέμβριος δεκ decembrie декември",
)

MONTHS = MappingProxyType({name: number for number, names in enumerate(_NAMES, 1) for name in names.split()})
"""The number of a month by its lower-case name, without a final dot."""
