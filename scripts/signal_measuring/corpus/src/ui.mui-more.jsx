import { Dialog, DialogContent, DialogTitle, List, ListItem, ListItemText, Step, StepLabel, Stepper, Table, TableBody, TableCell, TableRow, useMediaQuery } from '@mui/material';
import { show, useThreads } from '../react.jsx';

function Page() {
  const wide = useMediaQuery('(min-width: 900px)');
  const threads = useThreads();
  return (
    <>
      <h1>Orders {wide ? 'on a wide desk' : 'on a narrow desk'}</h1>
      <Stepper activeStep={1}>{['Measured', 'Dyed', 'Wound'].map((step) => <Step key={step}><StepLabel>{step}</StepLabel></Step>)}</Stepper>
      <List>{threads.map((thread) => <ListItem key={thread.id}><ListItemText primary={thread.name} secondary={thread.note} /></ListItem>)}</List>
      <Table><TableBody>{threads.map((thread) => <TableRow key={thread.id}><TableCell>{thread.stuff}</TableCell><TableCell>{thread.metres}</TableCell></TableRow>)}</TableBody></Table>
      <Dialog open><DialogTitle>Before you order</DialogTitle><DialogContent>Colours look darker under glass than they do in the hand.</DialogContent></Dialog>
    </>
  );
}
show(<Page />);
