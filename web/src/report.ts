// The page of gemu structure --html, gemu profile --html and gemu machine --html: it draws the report in the page's element gemu-report.

import './elements/report.ts';
