import { Field, Form, Formik } from 'formik';
import { useForm } from 'react-hook-form';
import { z } from 'zod';
import { show, useThreads } from '../react.jsx';

const shape = z.object({ name: z.string().min(3) });
function Page() {
  const { register, watch } = useForm({ defaultValues: { name: 'Nobody' } });
  return <><form><label>Name <input {...register('name')} /></label></form><p>{watch('name')} is {shape.safeParse({ name: watch('name') }).success ? 'long enough' : 'too short'}</p><Formik initialValues={{ colour: 'blue' }} onSubmit={() => {}}>{({ values }) => <Form><Field name="colour" />{values.colour}</Form>}</Formik>{useThreads().map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>)}</>;
}
show(<Page />);
