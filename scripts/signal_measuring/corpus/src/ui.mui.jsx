import { Accordion, AccordionDetails, AccordionSummary, Alert, Button, Card, CardContent, Chip, Tab, Tabs, Typography } from '@mui/material';
import { show, useNotes, useThreads } from '../react.jsx';

function Page() {
  return (
    <>
      <Typography variant="h3">Material of the mill</Typography>
      <Tabs value={0}><Tab label="Wool" /><Tab label="Linen" /></Tabs>
      <Alert severity="info">The mill is closed on market days.</Alert>
      {useThreads().map((thread) => <Card key={thread.id}><CardContent><Typography>{thread.name}</Typography>{thread.note}<Chip label={thread.stuff} /><Button>Order</Button></CardContent></Card>)}
      {useNotes().map((note) => <Accordion key={note.title} defaultExpanded><AccordionSummary>{note.title}</AccordionSummary><AccordionDetails>{note.text}</AccordionDetails></Accordion>)}
    </>
  );
}
show(<Page />);
