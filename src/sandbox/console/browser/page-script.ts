import { addAdvances, runClocks } from './clocks.ts';
import { addCopy } from './copy.ts';
import { addDialogs } from './dialogs.ts';
import { addFaultPresets } from './fault-presets.ts';
import { addKeys } from './keyboard.ts';
import { addLists } from './live.ts';
import { addNotices } from './notices.ts';
import { addForms } from './send-forms.ts';
import { follow } from './stream.ts';
import { keepTab } from './tabs.ts';

// Runs in each page of the console.
addNotices();
addCopy();
addDialogs();
addKeys();
addAdvances();
runClocks();
keepTab();
addForms();
addFaultPresets();
addLists();
follow();
