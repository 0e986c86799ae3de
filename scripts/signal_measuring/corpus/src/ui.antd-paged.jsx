import { Descriptions, Steps, Table, Tree } from 'antd';
import { show, useThreads } from '../react.jsx';

function Page() {
  const threads = useThreads();
  return (
    <>
      <h1>Pages of a ledger</h1>
      <Table rowKey="id" dataSource={threads} pagination={{ pageSize: 5 }} columns={['name', 'note', 'metres'].map((name) => ({ title: name, dataIndex: name }))} />
      <Descriptions title="The house">{threads.slice(0, 3).map((thread) => <Descriptions.Item key={thread.id} label={thread.name}>{thread.stuff}</Descriptions.Item>)}</Descriptions>
      <Steps current={1} items={[{ title: 'Asked' }, { title: 'Promised' }]} />
      <Tree defaultExpandAll treeData={[{ title: 'Cellar', key: 'c', children: [{ title: 'Vats', key: 'v' }, { title: 'Barrels', key: 'b' }] }]} />
    </>
  );
}
show(<Page />);
