// The page of gemu structure --html and gemu profile --html: it draws the report in the page's element gemu-report.

import './elements/report.ts';
