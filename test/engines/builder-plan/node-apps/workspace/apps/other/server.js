console.log('another app');
