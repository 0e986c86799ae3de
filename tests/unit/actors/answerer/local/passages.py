"""Passages of our own writing in several languages, for questions to be asked of."""

from __future__ import annotations

from actors.answerer.source import AnswerSource

MILL = """\
# The mill at Harrow Ford

The mill at Harrow Ford is a watermill on the river Senn. It was built in 1781 by Agnes Tolliver, a baker from Lund. Its
wheel is 6.4 metres wide and turns eleven times a minute.

## History

In March 1866 a flood carried the wheel away. The village rebuilt it within two years, because no other mill stood
within a day's walk. Since 1931 the mill has not ground any flour. Today it belongs to a trust of 240 members.

## Visits

- Open from May to September, 10:00 to 17:00. Dogs are not allowed.
- Groups write to [the keeper of the mill](/contact#form).

| Ticket | Price |
|--------|-------|
| Adults | 4.50 euros |
| Children | 2 euros |

See also [the bridge at Harrow Ford](https://ford.example/bridge), [winter markets](/markets) and [old maps](/maps).

```
the flood of 1866 killed 12 people
```
"""

MUEHLE = """\
# Die Mühle

Die Mühle am Fluss wurde 1781 von Agnes Tolliver erbaut. Das Rad ist 6,4 Meter breit. Am 21. März 1866 riss ein
Hochwasser das Rad fort. Der Eintritt kostet 4,50 Euro. Kinder zahlen nichts, weil der Verein sie einlädt.
"""

MOULIN = """\
Le moulin se trouve près de Lund, sur la rivière Senn. Il a été construit en 1781 par la boulangère Agnès Tollivier.
L'entrée coûte 4 euros. Les chiens ne sont pas admis.
"""

MOLINO = """\
El molino está en la orilla del río Sena. Lo construyó Inés Toledo en 1781. La entrada cuesta 4 euros. El molino cierra
en invierno porque el río se hiela.
"""

MELNITSA = "Мельница стоит на реке Сенн. Её построила Агния Толли в 1781 году. Вход стоит 300 рублей."

SHUICHE = (
    "水车位于森河岸边。它由李安于1781年建造。水车的轮子宽6.4米。1866年3月的洪水冲走了轮子。"
    "村民在两年内重建了它，因为附近没有别的磨坊。门票价格是30元。"
)

SUISHA = "水車は川のほとりにある。1781年に佐藤花子が建てた。車輪の幅は6.4メートルである。入場料は500円である。"

THAI = "กังหันน้ำสร้างขึ้นในปี 1781 โดยนายสมชาย ใจดี กังหันตั้งอยู่ริมแม่น้ำเซน ค่าเข้าชมคนละ 50 บาท"


def source(
    markdown: str, title: str = "", doc_id: str = "doc_1", url: str = "https://mill.example/history"
) -> AnswerSource:
    """Make a source of a passage."""
    return AnswerSource(doc_id=doc_id, url=url, title=title, markdown=markdown)
