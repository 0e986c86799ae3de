import { Card, Collapse, List, Statistic, Table, Tabs, Tag, Timeline } from 'antd';
import { price, show, useNotes, useThreads } from '../react.jsx';

function Page() {
  const threads = useThreads();
  const columns = [{ title: 'Name', dataIndex: 'name' }, { title: 'Stuff', dataIndex: 'stuff', render: (stuff) => <Tag>{stuff}</Tag> }, { title: 'Price', dataIndex: 'cents', render: price }];
  return (
    <Card title="The ledger">
      <Table rowKey="id" dataSource={threads} columns={columns} pagination={false} />
      <List dataSource={useNotes()} renderItem={(note) => <List.Item>{note.text}</List.Item>} />
      <Statistic title="Kinds" value={threads.length} />
      <Timeline items={['Spring', 'Summer'].map((children) => ({ children }))} />
      <Tabs items={[{ key: 'a', label: 'First book', children: 'Nothing was sold in the year of the flood.' }]} />
      <Collapse defaultActiveKey="1" items={[{ key: '1', label: 'Small print', children: 'Cloth that was cut is not taken back.' }]} />
    </Card>
  );
}
show(<Page />);
